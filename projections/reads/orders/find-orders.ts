import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "#projections/log/database.ts";
import type { OrderSubject } from "#projections/log/facts.ts";
import { storedRow } from "#projections/log/sql-values.ts";

/** The stored row of an order, and the keys of the facts that its state depends on. */
type FoundOrder = { row: Record<string, unknown>; subject: OrderSubject };

/** Rows with an order's hash, which is the same for equal components on two chains. */
export async function findOrders(
  db: Database,
  side: "listing" | "bid",
  orderHash: Hex,
): Promise<FoundOrder[]> {
  const hash = Buffer.from(orderHash.slice(2), "hex");
  const table = sql.table(side === "listing" ? "listings.listing" : "bids.bid");
  // A listing does not depend on its maker's funds.
  const payerCurrency =
    side === "listing"
      ? sql`null::integer`
      : sql`(select contract_id from log.contract k where k.chain_id = o.chain_id and k.address = o.currency)`;
  const found = await sql<OrderSubject & { row: Record<string, unknown> }>`
    select ${storedRow(sql`o`)} as row, o.chain_id as "chainId", o.order_hash as "orderHash", o.maker,
           o.contract_id as "contractId", o.token_id as "tokenId", o.end_time as "endTime",
           ${payerCurrency} as "currencyId"
    from ${table} o where o.order_hash = ${hash} order by o.chain_id`.execute(db);
  return found.rows.map(({ row, ...subject }) => ({ row, subject }));
}
