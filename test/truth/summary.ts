import type { Truth } from "./run.ts";

/** What a run found, for people. */
export function summarize(truth: Truth): string {
  const { judgements, judged, atOnce, reorgs, restarts, slowestMs, disagreements } = truth;
  const counted = (counts: Record<string, number>) =>
    Object.entries(counts)
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([name, count]) => `  ${count} × ${name}`);
  const percent = (part: number) => `${((100 * part) / Math.max(1, judged)).toFixed(3)} %`;
  return [
    `${judgements} judgements of ${judged} orders, ${reorgs} reorgs, ${restarts} lost leases, the chain derived within ${slowestMs} ms`,
    `agreed at once: ${atOnce} (${percent(atOnce)})`,
    "agreed after the next look at the chain:",
    ...Object.entries(truth.late).map(
      ([reason, { orders, slowestMs }]) => `  ${orders} × ${reason}, within ${slowestMs} ms`,
    ),
    `disagreements: ${disagreements.length} (truth rate ${percent(judged - disagreements.length)})`,
    ...disagreements.map((line) => `  ${line}`),
    "what happened:",
    ...counted(truth.moves),
  ].join("\n");
}
