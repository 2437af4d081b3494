import { sql } from "kysely";
import type { Target } from "#projections/engine/checkpoint.ts";
import { appendStaged } from "#projections/log/append.ts";
import { appendBlockStates } from "#projections/log/blocks.ts";
import type { Database } from "#projections/log/database.ts";
import { project } from "../support/database/given.ts";
import { stageRange } from "./facts.ts";
import { type Figure, percentileFigures } from "./figure.ts";
import { deriveTargets, inScopes, timed, withLog } from "./server.ts";

const BLOCKS = 64;
const REORGS = 12;
const WARM_UPS = 2;

/** Repeatedly replaces the last blocks by others with the same events: recorded and applied. */
export async function run({ facts }: { facts: number }): Promise<Figure[]> {
  return [...(await measure(facts, 11, 100)), ...(await measure(facts, 200, 800))];
}

async function measure(facts: number, factsInBlock: number, goalMs: number): Promise<Figure[]> {
  const end = facts - (facts % factsInBlock);
  return await withLog({ facts: end, factsInBlock }, (db) =>
    inScopes(async ({ mark, of, chosen }) => {
      const targets = await deriveTargets(db, chosen);
      const durationsMs: number[] = [];
      for (let reorg = 1; reorg <= WARM_UPS + REORGS; reorg += 1) {
        const branch = `${mark} ${reorg}`;
        durationsMs.push(await replaceLast(db, targets, { end, factsInBlock, branch }));
      }
      const size = `${BLOCKS} blocks of ${factsInBlock} facts replaced at the end of ${end}, ${of}`;
      const percentiles = [
        { percent: 50, goalMs },
        { percent: 95, goalMs: null },
      ];
      const name = `reorg${mark}, ${BLOCKS} × ${factsInBlock},`;
      return percentileFigures(name, durationsMs.slice(WARM_UPS), percentiles, size);
    }),
  );
}

type Replacement = { end: number; factsInBlock: number; branch: string };

/** Milliseconds to record and apply another branch. */
async function replaceLast(
  db: Database,
  targets: Target[],
  { end, factsInBlock, branch }: Replacement,
): Promise<number> {
  const blocks = await readLastBlocks(db);
  return await timed(async () => {
    await db.transaction().execute(async (session) => {
      await appendBlockStates(session, "block_retracted", blocks, new Date());
      await stageRange(session, end - BLOCKS * factsInBlock, end, branch);
      await appendStaged(session);
    });
    await project(db, targets);
  });
}

/** The highest blocks that are not retracted. */
async function readLastBlocks(db: Database): Promise<bigint[]> {
  const { rows } = await sql<{ block_id: bigint }>`
    select b.block_id from log.block b
    where b.block_id not in (select block_id from log.retracted_blocks((select position from log.head)))
    order by b.number desc limit ${BLOCKS}`.execute(db);
  return rows.map((row) => row.block_id);
}
