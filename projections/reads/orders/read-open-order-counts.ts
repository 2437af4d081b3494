import { type RawBuilder, sql } from "kysely";
import type { Address } from "viem";
import type { Database } from "#projections/log/database.ts";
import { isOpen } from "#projections/order-state/status-sql.ts";
import { byteaArray } from "#projections/log/sql-values.ts";
import { hasEnded } from "./order-columns.ts";

/** How many of our own orders on the chain each maker has open; makers without any are left out. */
export async function readOpenOrderCounts(
  db: Database,
  chainId: number,
  makers: readonly Address[],
  now: Date,
): Promise<Map<Address, number>> {
  const ofTable = (table: string, condition: RawBuilder<unknown>) => sql`
    select o.maker from ${sql.table(table)} o
    where ${condition} and o.chain_id = ${chainId} and o.maker = any (${byteaArray([...new Set(makers)])}) and ${isOpen}
      and not ${hasEnded(now)}`;
  const { rows } = await sql<{ maker: Address; count: bigint }>`
    select maker, count(*) from (
      ${ofTable("listings.listing", sql`o.marketplace = 'native'`)} union all ${ofTable("bids.bid", sql`true`)}
    ) open
    group by maker`.execute(db);
  return new Map(rows.map(({ maker, count }) => [maker, Number(count)]));
}
