import { setTimeout as delay } from "node:timers/promises";
import type { Progress } from "./read-progress.ts";
import type { SupervisorContext } from "./supervisor-context.ts";

const checkEveryMs = 250;
/** Between two readings: shown on one changing line of a terminal, or logged. */
const showEveryMs = { terminal: 500, log: 5_000 };

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

type RatedProgress = Progress & { factsPerSecond: number };

/** Adds the rate since the reading before. */
function openRate(): (progress: Progress) => RatedProgress {
  let before: { facts: number; at: number } | undefined;
  return (progress) => {
    const now = performance.now();
    const seconds = before === undefined ? 0 : (now - before.at) / 1_000;
    const added = before === undefined ? 0 : progress.facts - before.facts;
    before = { facts: progress.facts, at: now };
    return { ...progress, factsPerSecond: seconds > 0 ? Math.round(added / seconds) : 0 };
  };
}

function lineOf({ facts, factsPerSecond, chains }: RatedProgress): string {
  const blocks = chains.map(
    ({ chainId, block, head }) => `chain ${chainId}: ${block ?? "-"}/${head ?? "-"}`,
  );
  return ["catching up, blocks", ...blocks, `${facts} facts (${factsPerSecond}/s)`].join("  ");
}
