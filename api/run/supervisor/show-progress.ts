import { setTimeout as delay } from "node:timers/promises";
import { barOf } from "../output/progress-bar.ts";
import type { Progress } from "./read-progress.ts";
import type { SupervisorContext } from "./supervisor-context.ts";

const checkEveryMs = 250;
/** Between two readings: shown on one changing line of a terminal, or logged. */
const showEveryMs = { terminal: 500, log: 10_000 };

/** Shows how far recording is until the service is ready. */
export async function showProgressUntil(
  isReady: () => Promise<boolean>,
  readProgress: () => Promise<Progress>,
  { progress, logger, signal }: Pick<SupervisorContext, "progress" | "logger" | "signal">,
): Promise<void> {
  const everyMs = progress.isTerminal ? showEveryMs.terminal : showEveryMs.log;
  const withRate = openRate();
  let shownAt = performance.now();
  while (!(await isReady())) {
    await delay(checkEveryMs, undefined, { signal });
    if (performance.now() - shownAt < everyMs) continue;
    shownAt = performance.now();
    const current = await readProgress().catch(() => null);
    if (current === null) continue;
    const fields = withRate(current);
    if (progress.isTerminal) progress.show(lineOf(fields));
    else logger.info(fields, "catching up");
  }
  progress.clear();
}

type RatedProgress = Progress & {
  factsPerSecond: number;
  /** Of the chain that takes longest, at the pace since the first reading; null: not known. */
  secondsLeft: number | null;
};

/** Adds the rate since the reading before, and the time left. */
function openRate(): (progress: Progress) => RatedProgress {
  let before: { facts: number; at: number } | undefined;
  const first = new Map<number, { block: number; at: number }>();
  const secondsLeftOf = ({ chainId, block, head }: Progress["chains"][number], at: number) => {
    if (block === null || head === null) return null;
    const known = first.get(chainId) ?? { block, at };
    first.set(chainId, known);
    const perSecond = ((block - known.block) * 1_000) / (at - known.at);
    return perSecond > 0 ? Math.ceil((head - block) / perSecond) : null;
  };
  return (progress) => {
    const now = performance.now();
    const seconds = before === undefined ? 0 : (now - before.at) / 1_000;
    const added = before === undefined ? 0 : progress.facts - before.facts;
    before = { facts: progress.facts, at: now };
    const left = progress.chains.map((chain) => secondsLeftOf(chain, now));
    const known = left.filter((one) => one !== null);
    return {
      ...progress,
      factsPerSecond: seconds > 0 ? Math.round(added / seconds) : 0,
      secondsLeft: known.length === 0 ? null : Math.max(...known),
    };
  };
}

function lineOf({ facts, factsPerSecond, secondsLeft, chains }: RatedProgress): string {
  const blocks = chains.map(
    ({ chainId, block, head }) =>
      `chain ${chainId}: ${barOf((block ?? 0) / (head || 1))} ${block ?? "-"}/${head ?? "-"}`,
  );
  const left = secondsLeft === null ? [] : [`about ${secondsLeft} s left`];
  return ["catching up", ...blocks, `${facts} facts (${factsPerSecond}/s)`, ...left].join("  ");
}
