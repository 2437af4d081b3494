import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { launch } from "#ops/programs.ts";

const root = resolve(import.meta.dirname, "../../..");

type Environment = Record<string, string>;

/** Starts an operator command. */
export function startOp(environment: Environment, args: readonly string[]) {
  return spawn(process.execPath, launch("op", ...args), {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

export type OpResult = { code: number; stdout: string; stderr: string };

/** Runs an operator command to its end. */
export async function runOp(environment: Environment, ...args: string[]): Promise<OpResult> {
  const child = startOp(environment, args);
  const output = Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = (await once(child, "exit")) as [number];
  const [stdout, stderr] = await output;
  return { code, stdout, stderr };
}
