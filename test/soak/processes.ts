import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import type { OrphanGuard } from "#ops/processes/child.ts";
import { type LocalChains, parseDevnetLine } from "#ops/processes/local-chains.ts";
import { readUsage } from "../hostile-contracts/process-usage.ts";

const root = resolve(import.meta.dirname, "../..");

export type Running = { pid: number; exited: Promise<unknown>; child: ChildProcess };

type Program = {
  /** Of its log in the directory. */
  name: string;
  /** Of Node. */
  args: readonly string[];
  environment: Record<string, string | undefined>;
  directory: string;
  orphanGuard: OrphanGuard;
};

/** Starts a program of the project; what it prints is kept in a file. */
export function start({ name, args, environment, directory, orphanGuard }: Program): Running {
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${name} did not start`);
  orphanGuard.add(pid, "SIGTERM");
  const log = createWriteStream(join(directory, `${name}.log`), { flags: "a" });
  child.stdout?.pipe(log, { end: false });
  child.stderr?.pipe(log, { end: false });
  const exited = once(child, "exit").then(() => orphanGuard.remove(pid));
  return { pid, exited, child };
}

export async function stop({ child, exited }: Running): Promise<void> {
  child.kill("SIGTERM");
  await exited;
}

/** Waits for the line with which the local chains are ready. */
export async function untilChainsReady({ child, exited }: Running): Promise<LocalChains> {
  const ready = new Promise<LocalChains>((settle) => {
    if (child.stdout === null) return;
    createInterface({ input: child.stdout }).on("line", (line) => {
      const message = parseDevnetLine(line);
      if (typeof message === "object") settle(message);
    });
  });
  const ended = exited.then(() => {
    throw new Error("the local chains ended before they were ready");
  });
  return await Promise.race([ready, ended]);
}

/** Seconds until the service is ready; throws after `withinSeconds`, with what is not. */
export async function untilReady(baseUrl: string, withinSeconds: number): Promise<number> {
  const startedAt = Date.now();
  let last = "no answer";
  while (Date.now() - startedAt < withinSeconds * 1_000) {
    const answer = await fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(5_000) }).catch(
      () => null,
    );
    if (answer?.status === 200) return Math.round((Date.now() - startedAt) / 1_000);
    last = (await answer?.text().catch(() => "")) ?? "no answer";
    await delay(250);
  }
  throw new Error(`not ready after ${withinSeconds} s: ${last.slice(0, 500)}`);
}

/** The id of a process that `pid` started, directly or not, whose command line matches. */
export async function findProcess(pid: number, pattern: RegExp): Promise<number | null> {
  for (const [entry] of await readUsage(pid)) {
    const [id = "", ...command] = entry.split(" ");
    if (pattern.test(command.join(" "))) return Number(id);
  }
  return null;
}

/** Ends a process at once, whatever it does. It may just have ended by itself. */
export function kill(pid: number, signal: NodeJS.Signals = "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}
