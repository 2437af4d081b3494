import { type RawBuilder, sql } from "kysely";
import { zeroAddress } from "viem";
import type { Coin } from "#chains/coins.ts";
import { chains } from "#chains/index.ts";
import { byteaLiteral } from "../log/sql-values.ts";

/** As rows of a table: `chain_id`, `coin`. */
export const nativeCoins = sql`(values ${sql.join(
  chains.map(({ id, coin }) => sql`(${sql.lit(id)}, ${sql.lit(coin)})`),
)}) native (chain_id, coin)`;

/** SQL: the coin of a chain. */
export function nativeCoinOf(chain: RawBuilder<unknown>): RawBuilder<Coin> {
  const coins = chains.map(({ id, coin }) => sql`when ${sql.lit(id)} then ${sql.lit(coin)}`);
  return sql`case ${chain} ${sql.join(coins, sql` `)} end`;
}

/** Whether the sale `s` was paid in the chain's native currency or its wrapped form. */
export const isPaidNatively = sql`(s.chain_id, s.currency) in (${sql.join(
  chains.flatMap(({ id, wrapped }) =>
    [zeroAddress, wrapped.address].map(
      (address) => sql`(${sql.lit(id)}, ${byteaLiteral(address)})`,
    ),
  ),
)})`;
