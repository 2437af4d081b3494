import type { Database } from "../../projections/database.ts";
import { deriveInBulk } from "../../projections/engine/bulk.ts";
import { project } from "../given.ts";
import { appendRange } from "./facts.ts";
import { type Figure, percentileFigures } from "./figure.ts";
import { projections, timed, withLog } from "./server.ts";

const FACTS_IN_BLOCK = 200;
const BLOCKS = 100;
const WARM_UPS = 10;

/** One block after the other at the end of a log: appended, committed, folded, committed. */
export async function run({ facts }: { facts: number }): Promise<Figure[]> {
  const begin = facts - (facts % FACTS_IN_BLOCK);
  const more = (BLOCKS + WARM_UPS) * FACTS_IN_BLOCK;
  return await withLog({ facts: begin, more, factsInBlock: FACTS_IN_BLOCK }, async (db) => {
    const targets = await deriveAll(db);
    const durationsMs: number[] = [];
    for (let after = begin; after < begin + more; after += FACTS_IN_BLOCK) {
      const ms = await timed(async () => {
        await appendRange(db, after, after + FACTS_IN_BLOCK);
        await project(db, targets);
      });
      durationsMs.push(ms);
    }
    const percentiles = [
      { percent: 50, goalMs: 30 },
      { percent: 95, goalMs: null },
    ];
    const size = `blocks of ${FACTS_IN_BLOCK} facts after ${begin}, ${projections.length} projections`;
    return percentileFigures("block,", durationsMs.slice(WARM_UPS), percentiles, size);
  });
}

/** Every projection's tables, brought to the log's head. */
export async function deriveAll(db: Database) {
  const targets = projections.map((projection) => ({ projection, schema: projection.name }));
  for (const target of targets) await deriveInBulk(db, target);
  return targets;
}
