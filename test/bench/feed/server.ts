import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { ProcessFigures } from "./process.ts";

/** A process that serves the feed of a database. */
export type FeedServer = {
  port: number;
  readFigures(): Promise<ProcessFigures>;
  /** Kills it with SIGKILL and starts another on the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

export async function startFeedServer(url: string): Promise<FeedServer> {
  let { child, port } = await start(url, 0);
  return {
    port,
    async readFigures() {
      child.send("figures");
      const [figures] = (await once(child, "message")) as [ProcessFigures];
      return figures;
    },
    async restart() {
      child.kill("SIGKILL");
      await once(child, "exit");
      ({ child, port } = await start(url, port));
    },
    async stop() {
      child.disconnect();
      await once(child, "exit");
    },
  };
}

async function start(url: string, port: number): Promise<{ child: ChildProcess; port: number }> {
  const path = fileURLToPath(new URL("process.ts", import.meta.url));
  const child = fork(path, [url, String(port)]);
  const [message] = (await once(child, "message")) as [{ port: number }];
  return { child, port: message.port };
}
