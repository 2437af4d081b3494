import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { findFreePort } from "#ops/free-port.ts";
import type { OrphanGuard } from "#ops/processes/child.ts";
import { launch } from "#ops/programs.ts";

const root = resolve(import.meta.dirname, "../../..");

/** Before a set-up's own timeout, which could not say what the service waits for. */
const readyWithinMs = 570_000;

type StartOptions = {
  dataDir: string;
  orphanGuard: OrphanGuard;
  /** Command-line options. */
  args?: readonly string[];
  settings?: Record<string, string>;
};

export type StartedService = {
  baseUrl: string;
  pid: number;
  /** Lines of its output, as they come. */
  output: readonly string[];
  /** Settles with the exit code. */
  exited: Promise<number | null>;
  end(): Promise<void>;
};

/** Starts the service as `npm start` does, and waits until it is ready. */
export async function startService(options: StartOptions): Promise<StartedService> {
  const { dataDir, orphanGuard, args = [], settings = {} } = options;
  const port = await findFreePort();
  const child = spawn(process.execPath, launch("service", ...args), {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATA_DIR: dataDir,
      PORT: `${port}`,
      RATE_LIMIT_KEYLESS: "0",
      OPERATOR_CONSOLE: "off",
      ...settings,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error("npm start did not start");
  orphanGuard.add(pid, "SIGTERM");
  const exited = once(child, "exit").then(([code]: (number | null)[]) => {
    orphanGuard.remove(pid);
    return code ?? null;
  });
  const output: string[] = [];
  const baseUrl = await readyLine(child, output);
  if (baseUrl !== `http://127.0.0.1:${port}`) throw new Error(`ready at ${baseUrl}`);
  const end = async () => {
    child.kill("SIGTERM");
    await exited;
  };
  return { baseUrl, pid, output, exited, end };
}

/** The address that `ready` names; throws with the last lines of a start that failed or hangs. */
function readyLine(child: ChildProcess, output: string[]): Promise<string> {
  return new Promise((onReady, onFailure) => {
    if (child.stdout === null) return onFailure(new Error("there is no output"));
    const fail = () => onFailure(new Error(`not ready:\n${output.slice(-20).join("\n")}`));
    const timer = setTimeout(fail, readyWithinMs);
    createInterface({ input: child.stdout }).on("line", (line) => {
      output.push(line);
      const url = /^ready (\S+)$/.exec(line)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      onReady(url);
    });
    child.once("exit", fail);
  });
}

/** The addresses of the service that runs in a data directory. */
export function readInstallation(dataDir: string): Record<string, string> {
  const content = JSON.parse(readFileSync(join(dataDir, "running.json"), "utf8"));
  return (content as { environment: Record<string, string> }).environment;
}
