import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "#projections/log/database.ts";
import { byteaArray } from "#projections/log/sql-values.ts";
import { collectionJoins, type OrderRow, type OrderSchema, orderTable } from "./order-columns.ts";

/** Those of the orders that a table holds, unsorted; `columns` are of its row `o` joined with `collectionJoins`. */
export async function readOrdersByHash<Row extends OrderRow>(
  db: Database,
  { schema, columns }: { schema: OrderSchema; columns: RawBuilder<unknown> },
  chainId: number,
  orderHashes: readonly Hex[],
): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select ${columns}
    from ${orderTable(schema)} o ${collectionJoins}
    where o.chain_id = ${chainId} and o.order_hash = any (${byteaArray(orderHashes)})`.execute(db);
  return rows;
}
