import { setTimeout as delay } from "node:timers/promises";

/** What honest callers saw: milliseconds of each read, and answers by status. */
export type Figures = {
  readonly ms: number[];
  readonly statuses: Map<number, number>;
  /** 5xx other than 503 with `Retry-After`. */
  readonly faults: string[];
};

const paths = [
  "/v1/listings?chainId=33139&sort=price_asc",
  "/v1/bids?chainId=33139",
  "/v1/collections?chainId=33139",
  "/v1/sales?chainId=33139",
  "/v1/activity?chainId=33139",
  "/v1/orders/params?chainId=33139",
];

/** Pause between two reads; a limit of 30 a minute without a key leaves fewer. */
const pauseMs = 200;

/** Reads one after the other until aborted. */
export async function readHonestly(api: string, signal: AbortSignal): Promise<Figures> {
  const figures: Figures = { ms: [], statuses: new Map(), faults: [] };
  for (let turn = 0; !signal.aborted; turn += 1) {
    const path = paths[turn % paths.length] ?? "/";
    const begin = performance.now();
    const response = await fetch(api + path);
    await response.arrayBuffer();
    const { status, headers } = response;
    figures.statuses.set(status, (figures.statuses.get(status) ?? 0) + 1);
    const retryAfter = headers.get("retry-after");
    // A refusal for the rate says nothing about the service's speed.
    if (status !== 429) figures.ms.push(performance.now() - begin);
    if (status >= 500 && !(status === 503 && retryAfter !== null))
      figures.faults.push(`${status} ${path}`);
    const pause = retryAfter === null ? pauseMs : Number(retryAfter) * 1_000;
    await delay(pause, undefined, { signal }).catch(() => {});
  }
  return figures;
}

/** Milliseconds that this share of the reads took at most. */
export function quantile(ms: readonly number[], share: number): number {
  const sorted = ms.toSorted((one, other) => one - other);
  const index = Math.min(sorted.length - 1, Math.floor(sorted.length * share));
  return Math.round(sorted[index] ?? 0);
}
