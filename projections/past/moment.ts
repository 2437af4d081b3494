import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import type { NamedPoint, Point } from "../engine/point.ts";
import type { Relation } from "../engine/projection.ts";
import { blockIdRange } from "../log/blocks.ts";
import type { Database } from "../log/database.ts";
import { bytea } from "../log/sql-values.ts";
import type { RecomputeSet } from "../orders/select-facts.ts";
import { ownedAt } from "./owned-tokens.ts";

/** A point, and what time it was for orders: what was received by then is known, and starts and ends are compared with it. */
export type Moment = {
  readonly point: Point;
  readonly clock: Date;
  /** Set: of listings only those that were signed here count, as those of partners are known from this time on. */
  readonly partnersFrom?: Date;
};

/**
 * The moment of a point: a time that was named; else the time of its block, or, where the log does not have that, of the last
 * block before it that the log has.
 */
export async function momentOf(db: Database, point: Point, named: NamedPoint): Promise<Moment> {
  if ("time" in named) return { point, clock: named.time };
  if (point.time !== null) return { point, clock: point.time };
  const { rows } = await sql<{ timestamp: Date }>`
    select b.timestamp from log.block b
    where b.block_id < ${point.endId}::bigint and b.block_id >= ${blockIdRange(point.chainId).from}::bigint
      and b.block_id not in (select r.block_id from log.retracted_blocks(${point.position}::bigint) r)
    order by b.block_id desc limit 1`.execute(db);
  return { point, clock: rows[0]?.timestamp ?? new Date(0) };
}

/** Of which the orders are folded: of contracts, of these one token, or of a maker. */
export type BookSubject = {
  readonly contractIds: readonly number[] | null;
  readonly tokenId: bigint | null;
  readonly maker: Hex | null;
};

/** SQL: unix seconds. */
const clockOf = ({ clock }: Moment): RawBuilder<bigint> =>
  sql<bigint>`${Math.floor(clock.getTime() / 1_000)}::bigint`;

/** SQL: the log without what the projections leave out. */
const factsOf = ({ point: { excluded } }: Moment): Relation =>
  excluded.length === 0
    ? sql`log.fact`
    : sql`(select * from log.fact where position <> all (${excluded}::bigint[]))`;

/** The facts that count at a moment, for the statements that derive orders. `orders` are to be folded. */
export function foldedAt(moment: Moment, orders: Relation): RecomputeSet {
  const { position, endId } = moment.point;
  return {
    orders,
    upTo: position,
    facts: factsOf(moment),
    retractedBlocks: sql`retracted`,
    beforeBlock: endId,
    clock: clockOf(moment),
    owned: ownedAt,
  };
}

/** SQL: facts `f` that no chain has and that were received by a moment. */
export const receivedFacts = (
  moment: Moment,
  where: RawBuilder<unknown>,
): RawBuilder<unknown> => sql`
  select f.* from ${factsOf(moment)} f
  where ${where} and f.position <= ${moment.point.position}::bigint
    and f.recorded_at <= ${moment.clock.toISOString()}::timestamptz`;

/** SQL: whether a row's columns are of a subject; `of` names the maker's column. */
export function ofSubject(
  { contractIds, tokenId, maker }: BookSubject,
  of: "from_address" | "maker",
): RawBuilder<unknown> {
  const conditions = [
    ...(contractIds === null ? [] : [sql`f.contract_id = any (${contractIds}::int[])`]),
    ...(tokenId === null ? [] : [sql`f.token_id = ${String(tokenId)}::numeric`]),
    ...(maker === null ? [] : [sql`${sql.ref(`f.${of}`)} = ${bytea(maker)}`]),
  ];
  return sql.join(conditions, sql` and `);
}
