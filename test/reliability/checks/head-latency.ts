import { setTimeout as delay } from "node:timers/promises";
import { usualBlocks } from "../chain/provable-chain.ts";
import type { Trial } from "../trial.ts";
import { type Scenario, withLiveTrial } from "./scenario.ts";

const blockMs = 2_000;
const blocks = 90;
const tailMs = 10_000;
const farBehind = { blocks: 5, ms: 15_000 };

export const headLatency: Scenario = {
  group: "head-latency",
  checks: ["median-under-block-time", "tail-bounded", "keeps-up", "recovers-after-reorg"],
  run: (context) =>
    withLiveTrial(context, { history: usualBlocks(200) }, async (trial) => {
      const usual = await measure(trial, blocks);
      const seen = `p50 ${usual.p50} ms, p99 ${usual.p99} ms, worst lag ${usual.worstLag} blocks`;
      context.report("median-under-block-time", { isRight: usual.p50 <= blockMs, seen });
      context.report("tail-bounded", { isRight: usual.p99 <= tailMs, seen });
      context.report("keeps-up", { isRight: usual.farBehindMs <= farBehind.ms, seen });
      trial.chain.replace(4, usualBlocks(5));
      const after = await measure(trial, 15);
      context.report("recovers-after-reorg", {
        isRight: after.isComplete && after.p50 <= Math.max(2 * usual.p50, blockMs),
        seen: `p50 ${after.p50} ms, ${after.isComplete ? "past it" : "not past it"}`,
      });
    }),
};

export type HeadFigures = {
  p50: number;
  p99: number;
  worstLag: number;
  /** The longest time for which it was far behind. */
  farBehindMs: number;
  isComplete: boolean;
};

const lookEveryMs = 50;
const lastWaitMs = 60_000;

/** Adds blocks and looks when the owners after each of them are readable. */
export async function measure(
  trial: Trial,
  count: number,
  everyMs = blockMs,
): Promise<HeadFigures> {
  const addedAt = new Map<number, number>();
  const latencies: number[] = [];
  const lag = { worst: 0, farSince: 0, farMs: 0 };
  const timer = setInterval(() => {
    if (addedAt.size >= count) return clearInterval(timer);
    trial.chain.add(usualBlocks(1));
    addedAt.set(trial.chain.head().number, Date.now());
  }, everyMs);
  const endsAt = Date.now() + count * everyMs + lastWaitMs;
  const head = () => trial.chain.head().number;
  const first = head() + 1;
  let reached = first - 1;
  while (Date.now() < endsAt && (addedAt.size < count || reached < head())) {
    const now = Date.now();
    const ownersAt = (await trial.progress())?.ownersAt ?? reached;
    for (; reached < ownersAt; reached += 1) {
      latencies.push(Date.now() - (addedAt.get(reached + 1) ?? now));
    }
    noteLag(lag, head() - reached, now);
    await delay(lookEveryMs);
  }
  clearInterval(timer);
  latencies.sort((one, other) => one - other);
  const at = (share: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ??
    Number.POSITIVE_INFINITY;
  return {
    ...{ p50: at(0.5), p99: at(0.99), worstLag: lag.worst, farBehindMs: lag.farMs },
    isComplete: addedAt.size === count && reached >= head(),
  };
}

function noteLag(
  lag: { worst: number; farSince: number; farMs: number },
  blocksBehind: number,
  now: number,
): void {
  lag.worst = Math.max(lag.worst, blocksBehind);
  if (blocksBehind <= farBehind.blocks) lag.farSince = 0;
  else if (lag.farSince === 0) lag.farSince = now;
  else lag.farMs = Math.max(lag.farMs, now - lag.farSince);
}
