import { createSignal } from "./signals.ts";

const firstMs = 1_000;
const maxMs = 60_000;

/** The pause after `failures` in a row: a second, doubled each time, up to a minute. */
export const backOffMs = (failures: number): number =>
  Math.min(firstMs * 2 ** (failures - 1), maxMs);

/** Exponential backoff after `failures` in a row. */
export async function backOff(failures: number, signal: AbortSignal): Promise<void> {
  await sleep(backOffMs(failures), signal);
}

/** Resolves early when `signal` is aborted. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await createSignal().wait(ms, signal);
}
