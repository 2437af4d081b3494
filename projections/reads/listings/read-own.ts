import { sql } from "kysely";
import type { Address, Hex } from "viem";
import type { Database } from "../../database.ts";
import { hasEnded, isOpen } from "../orders/read-shown.ts";

/** A price somebody asks for a token. */
export type Asked = { maker: Address; contract: Address; tokenId: bigint; unitPriceWei: bigint };

export type OwnListing = Asked & { orderHash: Hex; counter: bigint };

/**
 * The makers' own listings of the same tokens, in the house's own book, that anybody could still buy for less;
 * superseded ones included: those are signed and hidden here only.
 */
export async function readOwnCheaperListings(
  db: Database,
  chainId: number,
  asked: readonly Asked[],
  now: Date,
): Promise<OwnListing[]> {
  const { rows } = await sql<OwnListing>`
    select o.maker, k.address as contract, o.token_id as "tokenId", o.unit_price_wei as "unitPriceWei",
           o.order_hash as "orderHash", o.counter
    from (
      select decode(maker, 'hex') as maker, decode(contract, 'hex') as contract, token_id, max(price_wei) as price_wei
      from unnest(
        ${asked.map(({ maker }) => maker.slice(2))}::text[],
        ${asked.map(({ contract }) => contract.slice(2))}::text[],
        ${asked.map(({ tokenId }) => String(tokenId))}::numeric[],
        ${asked.map(({ unitPriceWei }) => String(unitPriceWei))}::numeric[]
      ) asked (maker, contract, token_id, price_wei)
      group by 1, 2, 3
    ) asked
    join log.contract k on k.chain_id = ${chainId} and k.address = asked.contract
    join listings.listing o
      on o.contract_id = k.contract_id and o.token_id = asked.token_id and o.maker = asked.maker
      and o.marketplace = 'native'
    where ${isOpen} and (o.status = 'active' or o.reason = 'superseded') and not ${hasEnded(now)}
      and o.unit_price_wei < asked.price_wei`.execute(db);
  return rows;
}
