import { sql } from "kysely";
import { chainIds } from "../../../chains/index.ts";
import type { Database } from "../../database.ts";
import type { Coin } from "../../facts/price-ticked.ts";
import { nativeCoin } from "../../sql/native-coin.ts";

/** When the first sale of the chains with this coin was; null: there is none. */
export async function readFirstSaleAt(db: Database, coin: Coin): Promise<Date | null> {
  const chains = chainIds.filter((chainId) => nativeCoin[chainId] === coin);
  const { rows } = await sql<{ at: Date | null }>`
    select min(first.timestamp) as at
    from unnest(${chains}::int[]) one (chain_id)
    cross join lateral (
      select s.timestamp from sales.sale s where s.chain_id = one.chain_id order by s.block_id limit 1
    ) first`.execute(db);
  return rows[0]?.at ?? null;
}
