import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { findFreePort } from "#ops/free-port.ts";

const folder = resolve(import.meta.dirname, "../../clickhouse");

/** A server of ClickHouse with its data in a directory, which may be killed and started again. */
export type Clickhouse = {
  readonly url: string;
  kill(): Promise<void>;
  start(): Promise<void>;
};

/** npm writes it once every package is in place. */
const installed = join(folder, "node_modules/.package-lock.json");

/**
 * Installs the engine, 543 MB, as its lock file says, where that was not done. Once before anything starts a server: a
 * process that loads a library of which another still writes the last part ends with SIGBUS. Not by `npm ci`, which wants
 * the entries of other platforms' binaries, too, and npm leaves them out of this lock file.
 */
export function installClickhouse(): void {
  if (existsSync(installed)) return;
  execFileSync("npm", ["install", "--no-save", "--ignore-scripts"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
}

export async function startClickhouse(directory: string): Promise<Clickhouse> {
  const port = await findFreePort();
  let child: ChildProcess | undefined;
  const start = async () => {
    const script = join(folder, "server.ts");
    const started = spawn(process.execPath, [script, `${port}`, directory], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    child = started;
    const failed = once(started, "exit").then(([code, signal]) => {
      throw new Error(`ClickHouse ended with ${code ?? signal}`);
    });
    failed.catch(() => {});
    await Promise.race([once(started.stdout, "data"), failed]);
  };
  await start();
  return {
    url: `http://127.0.0.1:${port}/analytics`,
    start,
    async kill() {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
  };
}
