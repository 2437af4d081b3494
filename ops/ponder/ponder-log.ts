import type { Logger } from "pino";
import { createWindows } from "#jobs/runner/limits.ts";
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
  indexer: string;
  logger: Logger;
  /** URLs that may contain keys. Ponder quotes them. */
  secrets: string[];
  /** Called with each error of Ponder's, in its words. */
  onError?: (text: string) => void;
  /** Called when the backfill is done and Ponder follows new blocks. */
  onLive: () => void;
};

type Level = "debug" | "warn" | "error";
type LogEntry = { level: Level; fields: object; message: string };

/** Warnings that Ponder logs at every orderly stop. */
const expectedAtShutdown = ["Received SIGINT", "Started shutdown sequence"];
const repeatIntervalMs = 30_000;
const warnLevel = 40;
const errorLevel = 50;

/** Takes Ponder's log lines: known failures get a message of ours; the same line is logged once in 30 s. */
export function readPonderLog(options: PonderLogOptions): (text: string) => void {
  const { chainId, indexer, logger, secrets, onLive, onError } = options;
  const isRepeated = openRepeatFilter();
  return (text: string): void => {
    const line = parseLine(mask(text, secrets));
    if (line.msg === "Started returning 200 responses" && line.endpoint === "/ready") onLive();
    const { level, fields, message } = knownFailure(line, chainId) ?? entryOf(line);
    if (level === "error")
      onError?.("reason" in fields ? `${message} · ${fields.reason}` : message);
    if (level !== "debug" && isRepeated(`${message} ${JSON.stringify(fields)}`)) return;
    logger[level]({ chainId, indexer, ...fields }, message);
  };
}

/** Returns whether the same text was passed within the last 30 s. */
export function openRepeatFilter(): (text: string) => boolean {
  const seen = createWindows(repeatIntervalMs);
  return (text) => {
    seen.count(text);
    return seen.of(text) > 1;
  };
}

function parseLine(text: string): PonderLogLine {
  try {
    const line: unknown = JSON.parse(text);
    if (typeof line === "object" && line !== null) return line;
  } catch {
    // Text that is not JSON, such as a crash of the process.
  }
  return { msg: text };
}

/** Failures that Ponder does not recover from by itself. */
function knownFailure(
  { msg, error, finalized_block: finalizedBlock }: PonderLogLine,
  chainId: number,
): LogEntry | undefined {
  if (msg === "Encountered unrecoverable reorg") {
    const fields = { finalizedBlock, fix: `npm run op -- recover --chain ${chainId}` };
    return { level: "error", fields, message: "chain reorganized below its finalized block" };
  }
  if (error?.message?.includes("cannot move backwards")) {
    return { level: "error", fields: {}, message: "RPC is behind the finalized block" };
  }
  return undefined;
}

function entryOf({ msg = "", level = warnLevel, method, error }: PonderLogLine): LogEntry {
  const reasonLines = error?.message?.split("\n").filter((line) => line !== "");
  const reasons = [reasonLines?.at(0), reasonLines?.at(-1), error?.details];
  const reason = [...new Set(reasons.filter((text) => text !== undefined))].join(" · ");
  const fields = { ...(method && { method }), ...(reason && { reason }) };
  return { level: levelOf(msg, level), fields, message: `Ponder: ${msg}` };
}

function levelOf(message: string, level: number): Level {
  if (level < warnLevel || expectedAtShutdown.includes(message)) return "debug";
  return level >= errorLevel ? "error" : "warn";
}

function mask(text: string, secrets: string[]): string {
  return secrets.reduce((masked, secret) => masked.replaceAll(secret, maskUrl(secret)), text);
}
