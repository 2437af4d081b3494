import { type RawBuilder, sql } from "kysely";
import type { Address } from "viem";
import type { Database } from "../../database.ts";
import { bytes, hasEnded, isOpen } from "./read-shown.ts";

/**
 * How many orders each maker has in the house's own books of the chain that have not ended; makers without any are left
 * out.
 */
export async function readOpenCounts(
  db: Database,
  chainId: number,
  makers: readonly Address[],
  now: Date,
): Promise<Map<Address, number>> {
  const openOf = (table: string, condition: RawBuilder<unknown>) => sql`
    select o.maker from ${sql.table(table)} o
    where ${condition} and o.chain_id = ${chainId} and o.maker = any (${bytes([...new Set(makers)])}) and ${isOpen}
      and not ${hasEnded(now)}`;
  const { rows } = await sql<{ maker: Address; count: bigint }>`
    select maker, count(*) from (
      ${openOf("listings.listing", sql`o.marketplace = 'native'`)} union all ${openOf("bids.bid", sql`true`)}
    ) open
    group by maker`.execute(db);
  return new Map(rows.map(({ maker, count }) => [maker, Number(count)]));
}
