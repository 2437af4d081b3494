import type { Database } from "#projections/log/database.ts";
import { project } from "../support/database/given.ts";
import { appendRange } from "./facts.ts";
import { type Figure, percentileFigures } from "./figure.ts";
import { deriveTargets, inScopes, type Scope, scopes, timed, withLog } from "./server.ts";

const FACTS_IN_BLOCK = 200;
const BLOCKS = 100;
const WARM_UPS = 10;

/** One block after the other at the end of a log: appended, committed, applied, committed. */
export async function run({ facts }: { facts: number }): Promise<Figure[]> {
  const start = facts - (facts % FACTS_IN_BLOCK);
  const each = (BLOCKS + WARM_UPS) * FACTS_IN_BLOCK;
  const log = { facts: start, more: each * scopes.length, factsInBlock: FACTS_IN_BLOCK };
  return await withLog(log, async (db) => {
    return await inScopes((scope, index) => measure(db, start + index * each, scope));
  });
}

async function measure(
  db: Database,
  start: number,
  { mark, of, chosen }: Scope,
): Promise<Figure[]> {
  const targets = await deriveTargets(db, chosen);
  const durationsMs: number[] = [];
  for (let block = 0; block < BLOCKS + WARM_UPS; block += 1) {
    const after = start + block * FACTS_IN_BLOCK;
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
  const size = `blocks of ${FACTS_IN_BLOCK} facts after ${start}, ${of}`;
  return percentileFigures(`block${mark},`, durationsMs.slice(WARM_UPS), percentiles, size);
}
