import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { openTurns } from "#jobs/runner/limits.ts";
import type { PictureWidth } from "./address.ts";

export type PictureFormat = "avif" | "webp";

/** A picture at another width, or below an SVG of ours, with which it makes a card. */
export type DecodeRequest = { readonly bytes: Uint8Array } & (
  | { readonly width: PictureWidth; readonly format: PictureFormat }
  | { readonly card: string }
);

/** `whole`: the same at the largest width, from which the others are made; absent where the picture is sent as it came. */
type DecodedPicture = {
  readonly type: string;
  readonly bytes: Uint8Array;
  readonly whole?: Uint8Array;
};

/** What the process answers. */
export type DecodeAnswer = DecodedPicture | { readonly fault: string };

/** `ms`: what was spent on it in vain. */
type DecodeFault = { readonly fault: string; readonly ms: number };

/** Makes pictures smaller in a process of its own, one after the other. It ends when it is idle, and starts when asked. */
export type PictureDecoder = {
  decode(request: DecodeRequest): Promise<DecodedPicture | DecodeFault>;
  /** Of the process that runs now. */
  processId(): number | undefined;
  close(): void;
};

type Options = {
  /** Milliseconds for one picture; beyond them its process is killed. */
  readonly timeoutMs?: number;
  readonly idleMs?: number;
};

export function openPictureDecoder({
  timeoutMs = 12_000,
  idleMs = 60_000,
}: Options = {}): PictureDecoder {
  let child: ChildProcess | undefined;
  let idle: NodeJS.Timeout | undefined;
  const turns = openTurns({ atOnce: 1 });

  function end(): void {
    child?.kill("SIGKILL");
    child = undefined;
  }

  async function decodeNow(request: DecodeRequest): Promise<DecodedPicture | DecodeFault> {
    const startedAt = performance.now();
    clearTimeout(idle);
    child ??= start();
    const decoded = await answerOf(child, request, timeoutMs);
    // After a fault of the process, or a picture that took too long, the next picture gets another one.
    if ("fault" in decoded && (decoded.fault === tooLong || !isRunning(child))) end();
    idle = setTimeout(end, idleMs).unref();
    return "fault" in decoded ? { ...decoded, ms: performance.now() - startedAt } : decoded;
  }

  return {
    decode: (request) => turns.run("", () => decodeNow(request)),
    processId: () => child?.pid,
    close() {
      clearTimeout(idle);
      end();
    },
  };
}

const tooLong = "it took too long";

const isRunning = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode === null && signalCode === null;

/** Nothing of the environment is passed on: it holds passwords. */
function start(): ChildProcess {
  const child = fork(join(import.meta.dirname, "decode.ts"), {
    execArgv: ["--max-old-space-size=64", "--disable-warning=ExperimentalWarning"],
    env: {},
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  child.unref();
  child.channel?.unref();
  return child;
}

function answerOf(
  child: ChildProcess,
  request: DecodeRequest,
  timeoutMs: number,
): Promise<DecodeAnswer> {
  return new Promise((resolve) => {
    const finish = (decoded: DecodeAnswer) => {
      clearTimeout(timer);
      child.off("message", finish).off("exit", ended).off("error", ended);
      resolve(decoded);
    };
    const ended = () => finish({ fault: "it ended the process that decodes" });
    const timer = setTimeout(() => finish({ fault: tooLong }), timeoutMs);
    child.on("message", finish).on("exit", ended).on("error", ended);
    child.send(request, (error) => {
      if (error !== null) ended();
    });
  });
}
