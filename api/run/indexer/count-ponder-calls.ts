import { sleep } from "../../background/log-signal/back-off.ts";
import { publishCall } from "../../background/outgoing/call-channel.ts";

const everyMs = 15_000;
const timeoutMs = 5_000;

/** Counts the calls of a Ponder process, which has metrics of its own, until the signal. Ponder does not say to which node. */
export async function countPonderCalls(
  chainId: number,
  port: number,
  signal: AbortSignal,
): Promise<void> {
  const differ = openDifferences();
  while (!signal.aborted) {
    // Without an answer they are counted the next time.
    const text = await fetchMetrics(port).catch(() => "");
    for (const { method, outcome, calls } of differ(readPonderCalls(text))) {
      publishCall({
        kind: "node",
        target: `${chainId}`,
        host: "",
        method,
        outcome,
        calls,
      });
    }
    await sleep(everyMs, signal);
  }
}

async function fetchMetrics(port: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`, {
    signal: AbortSignal.timeout(timeoutMs),
  });
  return await response.text();
}

type PonderCalls = { method: string; outcome: "result" | "no_answer"; calls: number };

const families = [
  ["ponder_rpc_request_duration_count", "result"],
  ["ponder_rpc_request_error_total", "no_answer"],
] as const;

/** Calls by method and outcome in Ponder's metrics. A failed one is a node's error or no answer: Ponder does not tell. */
export function readPonderCalls(metrics: string): PonderCalls[] {
  return families.flatMap(([family, outcome]) =>
    [...metrics.matchAll(new RegExp(`^${family}\\{([^}]*)\\} (\\d+)`, "gm"))].map(
      ([, labels = "", calls]) => ({
        method: /method="(\w+)"/.exec(labels)?.[1] ?? "unknown",
        outcome,
        calls: Number(calls),
      }),
    ),
  );
}

/** What was added since the last time. */
function openDifferences(): (calls: readonly PonderCalls[]) => PonderCalls[] {
  const known = new Map<string, number>();
  return (all) =>
    all.flatMap((one) => {
      const key = `${one.method} ${one.outcome}`;
      const added = one.calls - (known.get(key) ?? 0);
      known.set(key, one.calls);
      return added > 0 ? [{ ...one, calls: added }] : [];
    });
}
