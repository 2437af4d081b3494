import { sql } from "kysely";
import type { Address, Hex } from "viem";
import type { Database } from "#projections/log/database.ts";
import { isOpen } from "#projections/order-state/status-sql.ts";
import { hasEnded } from "../orders/order-columns.ts";

/** The price of a listing of a token. */
export type AskingPrice = {
  maker: Address;
  contract: Address;
  tokenId: bigint;
  unitPriceWei: bigint;
};

export type NativeListing = AskingPrice & { orderHash: Hex; counter: bigint };

/**
 * The makers' listings of the same tokens on our own marketplace that can still be bought for less. Superseded ones
 * included: they are inactive here only, and their signatures remain valid on chain.
 */
export async function readCheaperNativeListings(
  db: Database,
  chainId: number,
  prices: readonly AskingPrice[],
  now: Date,
): Promise<NativeListing[]> {
  const { rows } = await sql<NativeListing>`
    select o.maker, k.address as contract, o.token_id as "tokenId", o.unit_price_wei as "unitPriceWei",
           o.order_hash as "orderHash", o.counter
    from (
      select decode(maker, 'hex') as maker, decode(contract, 'hex') as contract, token_id, max(price_wei) as price_wei
      from unnest(
        ${prices.map(({ maker }) => maker.slice(2))}::text[],
        ${prices.map(({ contract }) => contract.slice(2))}::text[],
        ${prices.map(({ tokenId }) => String(tokenId))}::numeric[],
        ${prices.map(({ unitPriceWei }) => String(unitPriceWei))}::numeric[]
      ) price (maker, contract, token_id, price_wei)
      group by 1, 2, 3
    ) price
    join log.contract k on k.chain_id = ${chainId} and k.address = price.contract
    join listings.listing o
      on o.contract_id = k.contract_id and o.token_id = price.token_id and o.maker = price.maker
      and o.marketplace = 'native'
    where ${isOpen} and (o.status = 'active' or o.reason = 'superseded') and not ${hasEnded(now)}
      and o.unit_price_wei < price.price_wei`.execute(db);
  return rows;
}
