import { type RawBuilder, sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import { isSaleFact } from "#projections/exchanges/exchanges.ts";
import { type FeedFact, saleKinds } from "./fact.ts";

/**
 * The parts of transactions by the positions of their sale facts. A part is what one append has of a transaction: its
 * facts in a row. It is named by its first position.
 */
export type Parts = ReadonlyMap<bigint, bigint>;

/** Parts of the sale facts among some facts. */
export async function readParts(db: Database, facts: readonly FeedFact[]): Promise<Parts> {
  const sold = facts.filter(({ kind }) => isSaleFact(kind));
  if (sold.length === 0) return new Map();
  const blocks = [...new Set(sold.map(({ blockId }) => blockId))];
  const { rows } = await sql<{ position: bigint; part: bigint }>`
    select position, part from (${partsOf(sql`f.block_id = any (${blocks}::bigint[])`)}) placed
    where kind = any (${saleKinds}::smallint[])`.execute(db);
  return new Map(rows.map(({ position, part }) => [position, part]));
}

/** The position itself where it ends a part or is of no transaction, else the last one before its part. */
export async function readPartEnd(db: Database, position: bigint): Promise<bigint> {
  const { rows } = await sql<{ part: bigint }>`
    select placed.part
    from log.fact last join log.fact next
      on next.position = ${position + 1n} and next.block_id = last.block_id
      and next.transaction_index = last.transaction_index
    cross join lateral (
      ${partsOf(sql`f.block_id = last.block_id and f.transaction_index = last.transaction_index`)}
    ) placed
    where last.position = ${position} and placed.position = ${position + 1n} and placed.part <= ${position}`.execute(
    db,
  );
  const [row] = rows;
  return row === undefined ? position : row.part - 1n;
}

/** SQL: position, kind and part of all facts of some transactions, `f`. */
function partsOf(condition: RawBuilder<unknown>): RawBuilder<unknown> {
  const inTransaction = sql`partition by block_id, transaction_index order by position`;
  return sql`
    select position, kind, max(position) filter (where begins) over (${inTransaction}) as part
    from (
      select position, kind, block_id, transaction_index, (
        lag(position) over (${inTransaction}) is distinct from position - 1
        or exists (select from log.transaction_part p where p.position = f.position)
      ) as begins
      from log.fact f where f.log_index is not null and ${condition}
    ) marked`;
}
