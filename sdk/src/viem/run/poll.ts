import { wait } from "../../reading/wait.ts";
import type { WalletError } from "../wallet-error.ts";
import type { Run } from "./context.ts";

const pollMs = 1_000;
export const defaultMineTimeoutMs = 180_000;

/** Reads until there is a value; `late`: what is thrown when there is none within the time of the run. */
export async function poll<Value>(
  { publicClient, options }: Run,
  read: () => Promise<Value | undefined>,
  late: () => WalletError,
): Promise<Value> {
  const { mineTimeoutMs = defaultMineTimeoutMs } = options;
  const deadline = Date.now() + mineTimeoutMs;
  const signal = options.signal ?? new AbortController().signal;
  while (true) {
    const value = await read();
    if (value !== undefined) return value;
    if (Date.now() > deadline) throw late();
    await wait(Math.min(pollMs, publicClient.pollingInterval), signal);
  }
}
