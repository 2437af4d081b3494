import type { BuildProgress } from "#projections/engine/rebuild.ts";
import type { Progress } from "./progress.ts";

/** Shows the derivation of projections. */
export const reportBuild =
  (progress: Progress) =>
  ({ projection, position, head, step, factsPerSecond }: BuildProgress): void =>
    progress.report({
      task: projection,
      done: Number(position),
      total: Number(head),
      unit: "facts",
      ...(step === undefined ? {} : { step, expectedPerSecond: factsPerSecond ?? null }),
    });
