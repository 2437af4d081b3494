import { setTimeout as delay } from "node:timers/promises";

const firstMs = 1_000;
const longestMs = 60_000;

/** Leaves alone what failed so often in a row: a second, then twice as long each time, up to a minute. */
export async function restAfterFailures(failures: number, signal: AbortSignal): Promise<void> {
  await pause(Math.min(firstMs * 2 ** (failures - 1), longestMs), signal);
}

export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
