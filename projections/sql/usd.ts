import { type RawBuilder, sql } from "kysely";
import { chains } from "#chains/index.ts";
import { priceAt } from "./coin-price.ts";
import { isPaidNatively, nativeCoinOf } from "./native-coin.ts";

/** Wei of a chain's native currency, or of its wrapped form, at the coin's last price before a moment, in 10⁻⁸ USD. */
export function usdE8Of(
  wei: RawBuilder<unknown>,
  chainId: RawBuilder<unknown>,
  at: RawBuilder<unknown>,
): RawBuilder<bigint | null> {
  return sql`div(${wei} * ${priceAt(nativeCoinOf(chainId), at)}, 1000000000000000000)`;
}

/** The same at one moment for all rows: the price of each chain's coin is looked up once. */
export function usdE8AtOnce(
  wei: RawBuilder<unknown>,
  chainId: RawBuilder<unknown>,
  at: RawBuilder<unknown>,
): RawBuilder<bigint | null> {
  const prices = chains.map(({ id, coin }) => {
    const price = priceAt(sql.lit(coin), at);
    return sql`when ${sql.lit(id)} then ${price}`;
  });
  return sql`div(${wei} * case ${chainId} ${sql.join(prices, sql` `)} end, 1000000000000000000)`;
}

/** What one unit of the sale `s` cost; null: the coin had no price, or another currency was paid. */
export const saleUsdE8 = sql<bigint | null>`
  case when ${isPaidNatively} then ${usdE8Of(sql`s.price_wei`, sql`s.chain_id`, sql`s.timestamp`)} end`;
