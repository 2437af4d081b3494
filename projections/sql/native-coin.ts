import { type RawBuilder, sql } from "kysely";
import { zeroAddress } from "viem";
import { type ChainId, chainIds, wrappedNative } from "../../chains/index.ts";
import type { Coin } from "../facts/price-ticked.ts";
import { byteaLiteral } from "./bytea.ts";

/** What a chain's native currency is called where it has a price. */
export const nativeCoin: Record<ChainId, Coin> = { 1: "ethereum", 33139: "apecoin" };

/** As rows of a table: `chain_id`, `coin`. */
export const nativeCoins = sql`(values ${sql.join(
  chainIds.map((id) => sql`(${sql.lit(id)}, ${sql.lit(nativeCoin[id])})`),
)}) native (chain_id, coin)`;

/** SQL: the coin of a chain. */
export function nativeCoinOf(chain: RawBuilder<unknown>): RawBuilder<Coin> {
  const coins = chainIds.map((id) => sql`when ${sql.lit(id)} then ${sql.lit(nativeCoin[id])}`);
  return sql`case ${chain} ${sql.join(coins, sql` `)} end`;
}

/** Whether the sale `s` was paid in the chain's native currency or its wrapped form. */
export const isPaidNatively = sql`(s.chain_id, s.currency) in (${sql.join(
  chainIds.flatMap((id) =>
    [zeroAddress, wrappedNative[id]].map(
      (address) => sql`(${sql.lit(id)}, ${byteaLiteral(address)})`,
    ),
  ),
)})`;
