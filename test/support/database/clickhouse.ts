import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { findFreePort } from "#ops/free-port.ts";
import { packageFolder } from "#test/support/processes/package-folder.ts";

/** A server of ClickHouse with its data in a directory, which may be killed and started again. */
export type Clickhouse = {
  readonly url: string;
  kill(): Promise<void>;
  start(): Promise<void>;
};

export async function startClickhouse(directory: string): Promise<Clickhouse> {
  const port = await findFreePort();
  let child: ChildProcess | undefined;
  const start = async () => {
    const script = join(packageFolder("clickhouse"), "server.ts");
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
