import type { TruthReport } from "./truth-report.ts";

/** The result of a run as text. */
export function summarize(truth: TruthReport): string {
  const {
    comparisons,
    compared,
    orders,
    changes,
    immediate,
    reorgs,
    restarts,
    slowestMs,
    disagreements,
  } = truth;
  const counted = (counts: Record<string, number>) =>
    Object.entries(counts)
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([name, count]) => `  ${count} × ${name}`);
  const percent = percentOf(compared);
  return [
    `${comparisons} comparisons, ${compared} evaluations of ${orders} orders (${changes} changes), ${reorgs} reorgs, ${restarts} lost leases, the chain derived within ${slowestMs} ms`,
    `agreed at once: ${immediate} (${percent(immediate)})`,
    `agreed within a second: ${immediate + truth.withinSecond} (${percent(immediate + truth.withinSecond)})`,
    "agreed after the next check of the chain:",
    ...Object.entries(truth.late).map(
      ([reason, { orders, slowestMs }]) => `  ${orders} × ${reason}, within ${slowestMs} ms`,
    ),
    ...truth.lateOrders.map((line) => `  ${line}`),
    `disagreements: ${disagreements.length} (truth rate ${percent(compared - disagreements.length)})`,
    ...disagreements.map((line) => `  ${line}`),
    "moves:",
    ...counted(truth.moves),
  ].join("\n");
}

/** One line for the chains together. */
export function summarizeAll(truths: readonly TruthReport[]): string {
  const sum = (count: (truth: TruthReport) => number) =>
    truths.reduce((total, truth) => total + count(truth), 0);
  const compared = sum((truth) => truth.compared);
  const immediate = sum((truth) => truth.immediate);
  const soon = immediate + sum((truth) => truth.withinSecond);
  const wrong = sum((truth) => truth.disagreements.length);
  const percent = percentOf(compared);
  return [
    `${compared} evaluations of ${sum((truth) => truth.orders)} orders with ${sum((truth) => truth.changes)} changes`,
    `at once ${percent(immediate)} (${compared - immediate} late)`,
    `within a second ${percent(soon)}`,
    `after the recheck ${percent(compared - wrong)} (${wrong} wrong)`,
  ].join(", ");
}

const percentOf = (whole: number) => (part: number) =>
  `${((100 * part) / Math.max(1, whole)).toFixed(3)} %`;
