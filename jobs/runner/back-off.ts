import type { BackOff } from "./job.ts";
import { createSignal } from "./signals.ts";

const usual: BackOff = { firstMs: 1_000, mostMs: 60_000 };

/** The pause after `failures` in a row, doubled each time: from a second up to a minute, unless said otherwise. */
export const backOffMs = (failures: number, { firstMs, mostMs }: BackOff = usual): number =>
  Math.min(firstMs * 2 ** (failures - 1), mostMs);

/** Exponential backoff after `failures` in a row. */
export async function backOff(failures: number, signal: AbortSignal): Promise<void> {
  await sleep(backOffMs(failures), signal);
}

/** Resolves early when `signal` is aborted. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await createSignal().wait(ms, signal);
}
