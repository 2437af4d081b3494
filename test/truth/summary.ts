import type { TruthReport } from "./run.ts";

/** The result of a run as text. */
export function summarize(truth: TruthReport): string {
  const { comparisons, compared, immediate, reorgs, restarts, slowestMs, disagreements } = truth;
  const counted = (counts: Record<string, number>) =>
    Object.entries(counts)
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([name, count]) => `  ${count} × ${name}`);
  const percent = (part: number) => `${((100 * part) / Math.max(1, compared)).toFixed(3)} %`;
  return [
    `${comparisons} comparisons of ${compared} orders, ${reorgs} reorgs, ${restarts} lost leases, the chain derived within ${slowestMs} ms`,
    `agreed at once: ${immediate} (${percent(immediate)})`,
    "agreed after the next check of the chain:",
    ...Object.entries(truth.late).map(
      ([reason, { orders, slowestMs }]) => `  ${orders} × ${reason}, within ${slowestMs} ms`,
    ),
    `disagreements: ${disagreements.length} (truth rate ${percent(compared - disagreements.length)})`,
    ...disagreements.map((line) => `  ${line}`),
    "moves:",
    ...counted(truth.moves),
  ].join("\n");
}
