import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";

const binaryPackage = "@foundry-rs/anvil-linux-amd64";
const startTimeoutMs = 20_000;
const stopTimeoutMs = 5_000;

/** The node as a child process. */
export type AnvilProcess = {
  pid: number;
  /** The port it listens on; throws with the node's own words when it does not come up. */
  port(): Promise<number>;
  /** Settles when the process is gone, for whatever reason. */
  exited: Promise<void>;
  end(): Promise<void>;
};

/**
 * The shell becomes the node; another shell waits on a pipe that only this process holds and ends
 * the node when the pipe breaks, so the node does not outlive a killed parent.
 */
const lifeline = '(read -r _ <&3 || kill "$$") >/dev/null 2>&1 & exec "$@" 3<&-';

type Child = ChildProcessByStdio<null, Readable, Readable>;

export function spawnAnvil(args: string[]): AnvilProcess {
  const child = spawn("/bin/sh", ["-c", lifeline, "sh", anvilCommand(), ...args], {
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  }) as Child;
  const { pid } = child;
  if (pid === undefined) throw new Error("A local chain needs /bin/sh, which did not start");
  const complaint = lastWords(child.stderr);
  return {
    pid,
    exited: holdLifeline(child),
    port: () => announcedPort(child, complaint),
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
      await exited;
      clearTimeout(late);
    },
  };
}

/** The binary of the npm package, or `anvil` on PATH where npm has none. */
function anvilCommand(): string {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${binaryPackage}/package.json`);
    return join(dirname(manifest), "bin", "anvil");
  } catch {
    return "anvil";
  }
}

function holdLifeline(child: Child): Promise<void> {
  const pipe = child.stdio[3] as Writable;
  pipe.on("error", () => {});
  return new Promise((resolve) => {
    child.once("exit", () => {
      pipe.end("gone\n");
      resolve();
    });
  });
}

function lastWords(stream: Readable): () => string {
  let text = "";
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    text = (text + chunk).slice(-2_000);
  });
  return () => text.trim();
}

function announcedPort(child: Child, complaint: () => string): Promise<number> {
  const onTime = new AbortController();
  const listening = new Promise<number>((resolve, reject) => {
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      if (onTime.signal.aborted) return;
      text += chunk;
      const port = /^Listening on .*:(\d+)\n/m.exec(text)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
    child.once("close", (code) => reject(new Error(explain(code, complaint()))));
  });
  const tooLate = delay(startTimeoutMs, undefined, { signal: onTime.signal }).then(() => {
    throw new Error(`anvil did not listen within ${startTimeoutMs / 1000} s. ${complaint()}`);
  });
  return Promise.race([listening, tooLate]).finally(() => onTime.abort());
}

function explain(code: number | null, complaint: string): string {
  if (code !== 127) return `anvil ended at start (exit ${code}). ${complaint}`;
  return (
    `No anvil for ${process.platform}-${process.arch}: npm carries ${binaryPackage} only. ` +
    "Put the anvil of Foundry 1.7.1 on PATH, or name RPC URLs of running chains. " +
    complaint
  );
}
