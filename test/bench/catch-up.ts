import type { Target } from "../../projections/engine/checkpoint.ts";
import { tick } from "../../projections/engine/tick.ts";
import { createProjection } from "../given.ts";
import { type Figure, medianFigure } from "./figure.ts";
import { projections, timed, withLog } from "./server.ts";

const WINDOW = 10_000;

/** Every projection from the log's beginning in windows, each window a sample. */
export async function run({ facts }: { facts: number }): Promise<Figure[]> {
  return await withLog({ facts }, async (db) => {
    const targets: Target[] = [];
    for (const one of projections) targets.push(await createProjection(db, one));
    const rates: number[] = [];
    for (let after = 0; after < facts; after += WINDOW) {
      const ms = await timed(() => tick(db, targets, WINDOW));
      rates.push(Math.min(WINDOW, facts - after) / (ms / 1000));
    }
    const size = `${facts} mixed facts, ${projections.length} projections, windows of ${WINDOW}`;
    const goal = { unit: "facts/s", atLeast: 30_000 } as const;
    return [
      medianFigure("catch-up", rates, goal, size),
      medianFigure("catch-up, last tenth", rates.slice(-Math.ceil(rates.length / 10)), goal, size),
    ];
  });
}
