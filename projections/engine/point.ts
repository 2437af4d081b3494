import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import { type Rejection, reject } from "../domain/rejection.ts";
import { blockIdRange, firstBlockId } from "../log/blocks.ts";
import type { Database } from "../log/database.ts";
import { readIndexedBlocks, readNewestEvent } from "../log/progress.ts";
import { bytea } from "../log/sql-values.ts";
import { schemaOf } from "../log/versions.ts";

/** How a caller names a moment of a chain: each stands for a block. */
export type NamedPoint =
  | { readonly block: bigint }
  | { readonly hash: Hex }
  | { readonly time: Date }
  | { readonly position: bigint };

/** The end of a block of today's canonical chain, as the log tells it at a position. */
export type Point = {
  readonly chainId: number;
  readonly block: bigint;
  /** Of the block; null: the log has nothing of it, as nothing indexed happened in it. */
  readonly hash: Hex | null;
  readonly time: Date | null;
  /** Facts up to it are read: the projection's position. */
  readonly position: bigint;
  readonly isFinal: boolean;
  /** The smallest block id behind the block. */
  readonly endId: bigint;
  /** Positions of the facts that the projection leaves out. */
  readonly excluded: readonly bigint[];
};

type PointCode = "block_retracted" | "block_unknown" | "point_not_covered" | "point_not_reached";

type Refused = Rejection<PointCode>;

/** SQL: a CTE that `happenedBy` reads. */
export const retractedCte = ({ position }: Pick<Point, "position">): RawBuilder<unknown> => sql`
  retracted as materialized (select block_id from log.retracted_blocks(${position}) retracted_now)`;

/** SQL: whether a chain's fact `f` counts at a point: of a block up to it that is not retracted now. */
export function happenedBy({ endId, position, excluded }: Point): RawBuilder<boolean> {
  const left = excluded.length === 0 ? sql`` : sql`and f.position <> all (${excluded}::bigint[])`;
  return sql<boolean>`(
    f.block_id < ${endId}::bigint and f.position <= ${position}::bigint ${left}
    and f.block_id not in (select block_id from retracted))`;
}

/** What a projection has of a chain. */
type Covered = {
  readonly chainId: number;
  readonly position: bigint;
  readonly excluded: readonly bigint[];
  /** First and last block with events that count. */
  readonly first: LoggedBlock;
  readonly last: LoggedBlock;
  /** The last block whose events are all read, and its time where that is later than the last event's. */
  readonly reached: bigint;
  readonly reachedAt: Date;
  readonly finalNumber: bigint;
};

type LoggedBlock = { number: bigint; hash: Hex; timestamp: Date };

/** The point of a chain that is named, where the rows of owners stand. */
export async function resolvePoint(
  db: Database,
  chainId: number,
  named: NamedPoint,
): Promise<Point | Refused> {
  const covered = await readCovered(db, chainId);
  if (covered === null)
    return reject("point_not_covered", `Nothing of chain ${chainId} is indexed yet`);
  const found = await readBlock(db, covered, named);
  if ("rejected" in found) return found;
  const { number, hash, timestamp } = found;
  if (number < covered.first.number) return notCovered(covered);
  if (number > covered.reached) return notReached(covered);
  const { position, excluded, finalNumber } = covered;
  return {
    ...{ chainId, block: number, hash, time: timestamp, position, excluded },
    isFinal: number <= finalNumber,
    endId: firstBlockId(chainId, number + 1n),
  };
}

const notCovered = ({ chainId, first }: Covered): Refused =>
  reject(
    "point_not_covered",
    `The history of chain ${chainId} that is indexed begins with block ${first.number} (${first.timestamp.toISOString()})`,
  );

const notReached = ({ chainId, reached, reachedAt }: Covered): Refused =>
  reject(
    "point_not_reached",
    `Chain ${chainId} is indexed up to block ${reached} (${reachedAt.toISOString()})`,
  );

/** SQL: whether a block `b` counts at a position. */
const isCounted = (position: bigint) => sql`
  b.block_id not in (select r.block_id from log.retracted_blocks(${position}::bigint) r)`;

/** SQL: blocks of a chain with events that count at a position, the first or the last. */
function eventBlock(
  { chainId, position }: Pick<Covered, "chainId" | "position">,
  order: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const { from, to } = blockIdRange(chainId);
  return sql`
    select b.block_id from log.fact b
    where b.log_index is not null and b.block_id >= ${from}::bigint and b.block_id < ${to}::bigint
      and b.position <= ${position}::bigint and ${isCounted(position)}
    order by b.block_id ${order} limit 1`;
}

type CoveredRow = {
  position: bigint;
  excluded: string[];
  finalNumber: bigint | null;
  number: bigint | null;
  hash: Hex;
  timestamp: Date;
  end: "first" | "last";
  isCut: boolean;
};

/** Null: nothing. */
async function readCovered(db: Database, chainId: number): Promise<Covered | null> {
  const { rows: checkpoints } = await sql<Pick<CoveredRow, "position" | "excluded">>`
    select position, excluded_positions::text[] as excluded from engine.checkpoint
    where projection = ${schemaOf("ownership")}`.execute(db);
  const [checkpoint] = checkpoints;
  if (checkpoint === undefined) return null;
  const { position } = checkpoint;
  const { rows } = await sql<CoveredRow>`
    select ends.name as end, b.number, b.hash, b.timestamp,
           (select number from ops.chain_finality where chain_id = ${chainId}) as "finalNumber", exists (
             select from log.fact later
             where later.block_id = b.block_id and later.log_index is not null and later.position > ${position}::bigint
           ) as "isCut"
    from (
      select 'first' as name, (${eventBlock({ chainId, position }, sql`asc`)}) as block_id
      union all
      select 'last', (${eventBlock({ chainId, position }, sql`desc`)})
    ) ends join log.block b using (block_id)`.execute(db);
  const [first, last] = (["first", "last"] as const).map((end) =>
    rows.find((row) => row.end === end),
  );
  if (first === undefined || last === undefined) return null;
  return {
    ...{ chainId, position, excluded: checkpoint.excluded.map(BigInt) },
    ...{ first: first as LoggedBlock, last: last as LoggedBlock },
    ...(await readReached(db, chainId, last as CoveredRow & LoggedBlock)),
    finalNumber: last.finalNumber ?? -1n,
  };
}

/** A block of which only some events are read is not reached; blocks without events are, where the indexer has seen them. */
async function readReached(
  db: Database,
  chainId: number,
  last: LoggedBlock & { isCut: boolean },
): Promise<Pick<Covered, "reached" | "reachedAt">> {
  const newest = await readNewestEvent(db, chainId);
  const isWhole = !last.isCut && newest?.isRecorded !== false;
  if (!isWhole) return { reached: last.number - 1n, reachedAt: last.timestamp };
  const indexed = newest === null ? null : await readIndexedBlocks(db, chainId);
  const isBehind = newest !== null && BigInt(newest.number) > last.number;
  if (indexed === null || isBehind || BigInt(indexed.indexed.number) <= last.number)
    return { reached: last.number, reachedAt: last.timestamp };
  const { number, timestamp } = indexed.indexed;
  return { reached: BigInt(number), reachedAt: new Date(timestamp * 1_000) };
}

type FoundBlock = { number: bigint; hash: Hex | null; timestamp: Date | null };

async function readBlock(
  db: Database,
  covered: Covered,
  named: NamedPoint,
): Promise<FoundBlock | Refused> {
  if ("block" in named) return await readByNumber(db, covered, named.block);
  if ("hash" in named) return await readByHash(db, covered, named.hash);
  if ("time" in named) return await readByTime(db, covered, named.time);
  return await readByPosition(db, covered, named.position);
}

const blockColumns = sql`b.number, b.hash, b.timestamp`;

async function readByNumber(
  db: Database,
  covered: Covered,
  number: bigint,
): Promise<FoundBlock | Refused> {
  if (number > covered.reached) return notReached(covered);
  const { chainId, position } = covered;
  const { rows } = await sql<LoggedBlock>`
    select ${blockColumns} from log.block b
    where b.block_id >= ${firstBlockId(chainId, number)}::bigint and b.block_id < ${firstBlockId(chainId, number + 1n)}::bigint
      and ${isCounted(position)}
    order by b.block_id desc limit 1`.execute(db);
  return rows[0] ?? { number, hash: null, timestamp: null };
}

async function readByHash(
  db: Database,
  { chainId, position }: Covered,
  hash: Hex,
): Promise<FoundBlock | Refused> {
  const { rows } = await sql<LoggedBlock & { chainId: number; counts: boolean }>`
    select ${blockColumns}, b.chain_id as "chainId", ${isCounted(position)} as counts
    from log.chain c join log.block b on b.chain_id = c.chain_id and b.hash = ${bytea(hash)}
    order by b.chain_id <> ${chainId} limit 1`.execute(db);
  const [found] = rows;
  if (found === undefined)
    return reject("block_unknown", `No event of a block ${hash} is indexed on chain ${chainId}`);
  if (found.chainId !== chainId)
    return reject(
      "block_unknown",
      `Block ${hash} is of chain ${found.chainId}, the request is about chain ${chainId}`,
    );
  return found.counts ? found : retracted(found);
}

const retracted = ({ number, hash }: Pick<LoggedBlock, "number" | "hash">): Refused =>
  reject(
    "block_retracted",
    `A reorg took back block ${hash}: at height ${number} the chain has another one`,
  );

/**
 * The last block with events up to a time that every later block is behind. Times of a chain's blocks do not fall, so it
 * is searched by halves: heights in the search are `block_id >> 12`.
 */
async function readByTime(
  db: Database,
  covered: Covered,
  time: Date,
): Promise<FoundBlock | Refused> {
  const { chainId, position, first, last, reached, reachedAt } = covered;
  if (time < first.timestamp) return notCovered(covered);
  if (time >= reachedAt) return notReached(covered);
  const at = sql`${time.toISOString()}::timestamptz`;
  const highest = reached < last.number ? reached : last.number;
  const [from, to] = [firstBlockId(chainId, first.number), firstBlockId(chainId, highest)];
  const { rows } = await sql<LoggedBlock>`
    with recursive ${retractedCte({ position })}, search as (
      select ${from}::bigint >> 12 as low, ${to}::bigint >> 12 as high
      union all
      select case when m.timestamp <= ${at} then s.middle else s.low end,
             case when m.timestamp <= ${at} then s.high else (m.block_id >> 12) - 1 end
      from (select low, high, (low + high + 1) / 2 as middle from search where low < high) s
      cross join lateral (${lastBlockUpTo(sql`s.middle`, from)}) m
    )
    select ${blockColumns} from (select high from search where low >= high limit 1) s
    cross join lateral (${lastBlockUpTo(sql`s.high`, from)}) b`.execute(db);
  return rows[0] ?? notCovered(covered);
}

/** SQL: the last block that counts up to a height, which is `block_id >> 12`. */
const lastBlockUpTo = (height: RawBuilder<unknown>, from: bigint) => sql`
  select * from log.block one
  where one.block_id < ((${height} + 1) << 12) and one.block_id >= ${from}::bigint
    and one.block_id not in (select block_id from retracted)
  order by one.block_id desc limit 1`;

/** Facts before a position among which an event of the chain is looked for. */
const NEAR = 100_000n;

async function readByPosition(
  db: Database,
  covered: Covered,
  at: bigint,
): Promise<FoundBlock | Refused> {
  const { chainId, position } = covered;
  if (at > position)
    return reject("point_not_reached", `The log is read up to position ${position}`);
  const { from, to } = blockIdRange(chainId);
  const { rows } = await sql<LoggedBlock & { counts: boolean }>`
    select ${blockColumns}, ${isCounted(position)} as counts
    from (
      select f.block_id from log.fact f
      where f.position <= ${at}::bigint and f.position > ${at - NEAR}::bigint and f.log_index is not null
        and f.block_id >= ${from}::bigint and f.block_id < ${to}::bigint
      order by f.position desc limit 1
    ) f join log.block b using (block_id)`.execute(db);
  const [found] = rows;
  if (found === undefined)
    return reject(
      "point_not_covered",
      `No event of chain ${chainId} is among the ${NEAR} facts up to position ${at}`,
    );
  return found.counts ? found : retracted(found);
}
