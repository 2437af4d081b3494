import { sql } from "kysely";
import { isPaidNatively, nativeCoins } from "../collection-stats/native-coin.ts";
import { priceAt } from "./read.ts";

const coin = sql`(select native.coin from ${nativeCoins} where native.chain_id = s.chain_id)`;

/**
 * What one unit of the sale `s` cost at the coin's last price before it, in 10⁻⁸ USD; null: there was none, or another
 * currency was paid.
 */
export const saleUsdE8 = sql<bigint | null>`
  case when ${isPaidNatively} then div(s.price_wei * ${priceAt(coin, sql`s.timestamp`)}, 1000000000000000000) end`;
