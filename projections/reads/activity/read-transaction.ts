import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "#projections/log/database.ts";
import { blockIdRange } from "#projections/log/blocks.ts";
import { bytea } from "#projections/log/sql-values.ts";
import { type SaleRow, saleColumns, saleNames } from "../sales/sale-columns.ts";
import { eventsWhere } from "./event-sources.ts";
import { type EventRow, eventColumns, eventJoins } from "./read-events.ts";

/** Most rows of a transaction that are read, of each kind. */
export const maxTransactionRows = 200;

/**
 * What a transaction did, in its order: its events and its sales, one more of each than is shown. Of several live blocks
 * with it, as after a reorg that is not seen through yet, the highest.
 */
export async function readTransaction(
  db: Database,
  chainId: number,
  hash: Hex,
): Promise<{ events: EventRow[]; sales: SaleRow[] }> {
  const { from, to } = blockIdRange(chainId);
  const place = sql`
    select t.block_id, t.transaction_index from log.transaction t
    where t.hash = ${bytea(hash)} and t.block_id >= ${from} and t.block_id < ${to} and exists (
      ${eventsWhere(isIn("t"))}
    )
    order by t.block_id desc limit 1`;
  const limit = maxTransactionRows + 1;
  const [events, sales] = await Promise.all([
    sql<EventRow>`
      with place as materialized (${place})
      select ${eventColumns}
      from place cross join lateral (
        ${eventsWhere(isIn("place"))}
      ) o ${eventJoins}
      order by o.log_index, o.sub_index limit ${limit}`.execute(db),
    sql<SaleRow>`
      with place as materialized (${place})
      select ${saleColumns()}
      from place join sales.sale s using (block_id, transaction_index) ${saleNames}
      order by s.ordinal limit ${limit}`.execute(db),
  ]);
  return { events: events.rows, sales: sales.rows };
}

const isIn = (transaction: string) => sql`
  e.block_id = ${sql.ref(`${transaction}.block_id`)}
  and e.transaction_index = ${sql.ref(`${transaction}.transaction_index`)}`;
