import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import { ordinalOf } from "#chains/index.ts";
import type { Database, Session } from "./database.ts";
import { factKind, kindList, kindLiteral } from "./fact-kinds.ts";

/**
 * A block's id carries its chain, its height and which of the blocks seen at that height it is:
 * the chain's ordinal (19 bits) · number (32 bits) · fork (12 bits). Ordering by block id orders a chain's live blocks by
 * height, and one chain's blocks are one range. `log.add_staged_blocks` makes them. Statements compare heights of one chain
 * by `block_id >> 12`; which bits the chain has is known here and there alone.
 */
const FORK_BITS = 12n;
const NUMBER_BITS = 32n;

/** The smallest block id of a height. */
export function firstBlockId(chainId: number, number: bigint): bigint {
  return blockIdRange(chainId).from | (number << FORK_BITS);
}

/** Block ids of a chain: from, inclusive, up to, exclusive. */
export function blockIdRange(chainId: number): { from: bigint; to: bigint } {
  const ordinal = BigInt(ordinalOf(chainId));
  const bits = NUMBER_BITS + FORK_BITS;
  return { from: ordinal << bits, to: (ordinal + 1n) << bits };
}

/** SQL: the height of a block id. */
export const blockNumberOf = (blockId: RawBuilder<unknown>): RawBuilder<bigint> => sql<bigint>`(
  (${blockId} >> ${sql.lit(Number(FORK_BITS))}) & ${sql.lit(2 ** Number(NUMBER_BITS) - 1)}::bigint)`;

/** SQL: the position of the last fact. */
export const logHead: RawBuilder<bigint> = sql<bigint>`(select position from log.head)`;

/** The position of the last fact; 0 for an empty log. */
export async function readLogHead(session: Session): Promise<bigint> {
  const { rows } = await sql<{ position: bigint }>`select position from log.head`.execute(session);
  const [head] = rows;
  if (head === undefined) throw new Error("log.head has no row: the log's migration did not run");
  return head.position;
}

type BlockState = "block_retracted" | "block_readopted";

/**
 * Appends a retraction or re-adoption for each block that it changes. No row is deleted and there is no depth limit:
 * a block's facts count while the last word on the block is not a retraction.
 */
export async function appendBlockStates(
  session: Session,
  state: BlockState,
  blockIds: readonly bigint[],
  at: Date,
): Promise<number> {
  if (blockIds.length === 0) return 0;
  const { rows } = await sql<{ appended: bigint }>`
    select log.append_block_states(${factKind[state]}::smallint, ${blockIds}::bigint[], ${at}) as appended
  `.execute(session);
  return Number(rows[0]?.appended ?? 0n);
}

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
