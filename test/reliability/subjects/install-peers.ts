import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

/** The peers that are measured beside us, and the lock file of what they need. */
export const peersDirectory = join(import.meta.dirname, "../peers");

const binaries = join(peersDirectory, "node_modules/.bin");

/** From their own lock file, once: none of it is among our own dependencies. */
export async function installPeers(): Promise<void> {
  if (existsSync(binaries)) return;
  await runInstalled("npm", ["ci", "--no-audit", "--no-fund"], { cwd: peersDirectory });
}

type Place = { cwd: string; environment?: Record<string, string> };

/** Runs a program of theirs. Throws with its output when it fails. */
export async function runInstalled(
  command: string,
  args: readonly string[],
  { cwd, environment }: Place,
): Promise<void> {
  const PATH = [binaries, process.env.PATH].join(delimiter);
  const env = { ...process.env, ...environment, PATH, CI: "true" };
  await promisify(execFile)(command, args, { cwd, env, maxBuffer: 2 ** 26 });
}
