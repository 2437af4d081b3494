import { setTimeout as delay } from "node:timers/promises";

const firstMs = 1_000;
const maxMs = 60_000;

/** Exponential backoff after `failures` in a row: a second, doubled each time, up to a minute. */
export async function backOff(failures: number, signal: AbortSignal): Promise<void> {
  await sleep(Math.min(firstMs * 2 ** (failures - 1), maxMs), signal);
}

/** Resolves early when `signal` is aborted. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
