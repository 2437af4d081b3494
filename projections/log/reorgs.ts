import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "../database.ts";
import { firstBlockId } from "./block-id.ts";
import { kindList, kindLiteral } from "./fact-kind-sql.ts";
import { logHead } from "./read-log-head.ts";

/** Retractions that are read at most. */
const mostRetractions = 500;

export type ReorgBlock = { number: number; hash: Hex; timestamp: Date };

/** Blocks of a chain that left it together, and those that the log holds of their heights now. */
export type Reorg = {
  chainId: number;
  /** When they were retracted. */
  at: Date;
  /** Position of the first retraction. */
  position: bigint;
  retracted: ReorgBlock[];
  replacedBy: ReorgBlock[];
};

type Row = ReorgBlock & { position: bigint; at: Date; chainId: number };

/** Reorgs since a time, newest first; without blocks that were readopted. */
export async function readReorgs(db: Database, since: Date): Promise<Reorg[]> {
  const { rows } = await sql<Row>`
    select f.position, f.recorded_at as at, b.chain_id as "chainId", b.number::int, b.hash, b.timestamp
    from log.fact f join log.block b using (block_id)
    where f.kind = ${kindLiteral("block_retracted")} and f.recorded_at >= ${since}
      and not exists (
        select from log.fact later
        where later.block_id = f.block_id and later.position > f.position
          and later.kind in ${kindList("block_retracted", "block_readopted")}
      )
    order by f.position desc limit ${mostRetractions}`.execute(db);
  const groups = groupByAppend(rows.toReversed());
  const found: Reorg[] = [];
  for (const group of groups.toReversed()) {
    const [first] = group;
    if (first === undefined) continue;
    const { chainId, at, position } = first;
    const retracted = group
      .map(({ number, hash, timestamp }) => ({ number, hash, timestamp }))
      .toSorted((one, other) => one.number - other.number);
    const replacedBy = await readEffective(db, chainId, retracted);
    found.push({ chainId, at, position, retracted, replacedBy });
  }
  return found;
}

/** Retractions of one chain that were appended together are one reorg. */
function groupByAppend(rows: readonly Row[]): Row[][] {
  const groups: Row[][] = [];
  for (const row of rows) {
    const last = groups.at(-1);
    const [first] = last ?? [];
    const isSame = first?.chainId === row.chainId && first.at.getTime() === row.at.getTime();
    if (isSame) last?.push(row);
    else groups.push([row]);
  }
  return groups;
}

async function readEffective(
  db: Database,
  chainId: number,
  retracted: readonly ReorgBlock[],
): Promise<ReorgBlock[]> {
  const numbers = retracted.map(({ number }) => number);
  const { rows } = await sql<ReorgBlock>`
    select number::int, hash, timestamp from log.block
    where block_id >= ${firstBlockId(chainId, BigInt(Math.min(...numbers)))}
      and block_id < ${firstBlockId(chainId, BigInt(Math.max(...numbers) + 1))}
      and block_id not in (select d.block_id from log.retracted_blocks(${logHead}) d)
    order by block_id`.execute(db);
  return rows;
}
