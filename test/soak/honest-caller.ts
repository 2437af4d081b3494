import { setTimeout as delay } from "node:timers/promises";
import { quantile } from "../hostile-contracts/samples.ts";

export type Latencies = {
  ms: number[];
  statuses: Map<number, number>;
  /** Requests without an answer: the API or its machine was down. */
  unanswered: number;
  /** Answers other than 2xx and 503 with `Retry-After`; no answer, while nothing of ours was down. */
  faults: string[];
};

const paths = [
  "/v1/listings?chainId=33139&sort=price_asc",
  "/v1/listings?chainId=1&marketplace=native",
  "/v1/bids?chainId=33139",
  "/v1/collections?chainId=33139",
  "/v1/sales?chainId=33139",
  "/v1/activity?chainId=1",
  "/v1/orders/params?chainId=33139",
];
const pauseMs = 250;
const timeoutMs = 30_000;

/** Reads one after the other until aborted. `isDown`: whether a process of the service was ended on purpose just now. */
export async function readUntil(
  baseUrl: string,
  signal: AbortSignal,
  isDown: () => boolean,
): Promise<Latencies> {
  const latencies: Latencies = { ms: [], statuses: new Map(), unanswered: 0, faults: [] };
  for (let turn = 0; !signal.aborted; turn += 1) {
    await readOne(baseUrl + (paths[turn % paths.length] ?? "/"), latencies, isDown);
    await delay(pauseMs, undefined, { signal }).catch(() => {});
  }
  return latencies;
}

async function readOne(url: string, latencies: Latencies, isDown: () => boolean): Promise<void> {
  const wasDown = isDown();
  const startedAt = performance.now();
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
    await response.arrayBuffer();
    const { status, headers } = response;
    latencies.statuses.set(status, (latencies.statuses.get(status) ?? 0) + 1);
    if (response.ok) latencies.ms.push(performance.now() - startedAt);
    const isRefusal = status === 503 && Number(headers.get("retry-after")) > 0;
    if (!response.ok && !isRefusal) latencies.faults.push(`${status} ${new URL(url).pathname}`);
  } catch {
    latencies.unanswered += 1;
    if (!wasDown && !isDown()) latencies.faults.push(`no answer ${new URL(url).pathname}`);
  }
}

export function describeLatencies({ ms, statuses, unanswered }: Latencies): string {
  const answers = [...statuses].map(([status, count]) => `${count} × ${status}`).join(", ");
  return (
    `${ms.length} reads, p50 ${quantile(ms, 0.5)} ms, p99 ${quantile(ms, 0.99)} ms; ` +
    `${answers || "no answers"}, ${unanswered} unanswered`
  );
}
