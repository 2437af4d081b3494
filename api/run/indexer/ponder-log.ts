import type { Logger } from "pino";
import { maskUrl } from "../config/setting.ts";

type PonderLogLine = {
  level?: number;
  msg?: string;
  endpoint?: string;
  method?: string;
  finalized_block?: number;
  error?: { message?: string; details?: string };
};

type PonderLogOptions = {
  chainId: number;
  logger: Logger;
  /** URLs that may hold keys. Ponder quotes them. */
  secrets: string[];
  /** Told when the backfill is done and new blocks are followed. */
  onLive: () => void;
};

/** Warnings of an end that was asked for. */
const expectedAtShutdown = ["Received SIGINT", "Started shutdown sequence"];
const repeatIntervalMs = 30_000;
const debugLevel = 20;
const warnLevel = 40;
const errorLevel = 50;

/** Takes Ponder's log lines: what an operator can act on is told in our words, the same complaint once in 30 s. */
export function readPonderLog({ chainId, logger, secrets, onLive }: PonderLogOptions) {
  const isRepeated = rememberWords();
  const tell = (level: number, words: string) => {
    if (level < warnLevel) logger.debug(words);
    else if (isRepeated(words)) return;
    else if (level >= errorLevel) logger.error(words);
    else logger.warn(words);
  };
  return (text: string): void => {
    const line = parseLine(mask(text, secrets));
    if (line.msg === "Started returning 200 responses" && line.endpoint === "/ready") onLive();
    const known = explain(line, chainId);
    const isOrdinary = expectedAtShutdown.includes(line.msg ?? "");
    if (known !== undefined) tell(errorLevel, known);
    else tell(isOrdinary ? debugLevel : (line.level ?? warnLevel), `Ponder: ${summary(line)}`);
  };
}

/** Says of words whether they were said in the last 30 s. */
export function rememberWords(): (words: string) => boolean {
  const saidAt = new Map<string, number>();
  return (words) => {
    const now = performance.now();
    if (now - (saidAt.get(words) ?? Number.NEGATIVE_INFINITY) < repeatIntervalMs) return true;
    saidAt.set(words, now);
    return false;
  };
}

function parseLine(text: string): PonderLogLine {
  try {
    const line: unknown = JSON.parse(text);
    if (typeof line === "object" && line !== null) return line;
  } catch {
    // What is no JSON is told as it is.
  }
  return { msg: text };
}

/** What Ponder cannot get over by itself. */
function explain(
  { msg, error, finalized_block }: PonderLogLine,
  chainId: number,
): string | undefined {
  if (msg === "Encountered unrecoverable reorg") {
    return (
      `chain ${chainId} is frozen: it was reorganised below block ${finalized_block}, which Ponder holds for final. ` +
      `Run \`npm run op -- recover --chain ${chainId}\``
    );
  }
  if (error?.message?.includes("cannot move backwards")) {
    return `chain ${chainId}: its RPC is behind what was indexed as final; waiting until it has passed that block`;
  }
  return undefined;
}

function summary({ msg, method, error }: PonderLogLine): string {
  const reason = error?.message?.split("\n").filter((line) => line !== "");
  const words = [msg, method, reason?.at(0), reason?.at(-1), error?.details];
  return [...new Set(words.filter((word) => word !== undefined))].join(" · ");
}

function mask(text: string, secrets: string[]): string {
  return secrets.reduce((masked, secret) => masked.replaceAll(secret, maskUrl(secret)), text);
}
