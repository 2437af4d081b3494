import { sql } from "kysely";
import type { Coin } from "#chains/coins.ts";
import { chains } from "#chains/index.ts";
import type { Database } from "#projections/log/database.ts";

/** When the first sale of the chains with this coin was; null: there is none. */
export async function readFirstSaleAt(db: Database, coin: Coin): Promise<Date | null> {
  const ids = chains.filter((chain) => chain.coin === coin).map(({ id }) => id);
  const { rows } = await sql<{ at: Date | null }>`
    select min(first.timestamp) as at
    from unnest(${ids}::int[]) one (chain_id)
    cross join lateral (
      select s.timestamp from sales.sale s where s.chain_id = one.chain_id order by s.block_id limit 1
    ) first`.execute(db);
  return rows[0]?.at ?? null;
}
