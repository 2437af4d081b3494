import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export type Delivering = { readonly pid: number; stop(): Promise<void> };

/** A process that does nothing but deliver a database's webhooks of chain 33139. */
export async function startDelivering(
  url: string,
  origins: readonly string[],
): Promise<Delivering> {
  const child = start(new URL("delivering.ts", import.meta.url), [url, ...origins]);
  await once(child, "message");
  const { pid } = child;
  if (pid === undefined) throw new Error("the process did not start");
  return { pid, stop: () => stop(child) };
}

export type Receiving = {
  /** At every address of this machine. */
  readonly port: number;
  /** Settles when it has taken so many different deliveries altogether. */
  until(deliveries: number): Promise<void>;
  stop(): Promise<void>;
};

/** A process that takes every request at once. */
export async function startReceiving(): Promise<Receiving> {
  const child = start(new URL("receiving.ts", import.meta.url), []);
  const [{ port }] = (await once(child, "message")) as [{ port: number }];
  return {
    port,
    async until(deliveries) {
      child.send(deliveries);
      await once(child, "message");
    },
    stop: () => stop(child),
  };
}

const start = (program: URL, args: readonly string[]): ChildProcess =>
  fork(fileURLToPath(program), args);

async function stop(child: ChildProcess): Promise<void> {
  child.disconnect();
  await once(child, "exit");
}
