import { type RawBuilder, sql } from "kysely";
import type { FactWindow } from "#projections/engine/projection.ts";
import { zeroAddress } from "#projections/log/sql-values.ts";
import type { BulkRules } from "../model/exchange.ts";
import { zones } from "../model/fees.ts";
import {
  blockAndTransaction,
  bytesOf,
  contractIdOf,
  feesOf,
  hexOf,
  marketplaceOfCalldata,
  nameIn,
  soleFacts,
} from "../model/simple-sale-sql.ts";
import { ERC721, erc1155Types, seaportVersions } from "./orders.ts";

/**
 * Sales of transactions that fill one order: a listing of one NFT for one currency, some of it for its maker, or a bid
 * of one currency for one NFT. The same rows as `trades.ts` makes of them, for a third of the work.
 */
export function selectSimpleSeaportSales(
  window: FactWindow,
  rules: BulkRules,
): RawBuilder<unknown> {
  return sql`
    select block_id, transaction_index, 0, sha256(convert_to(chain_id || ' ' || ${hexOf("hash")} || ' 0', 'UTF8')),
           chain_id, ${contractIdOf(sql`nft ->> 'token'`)}, (nft ->> 'identifier')::numeric, quantity,
           div(paid.wei, quantity), paid.wei, ${bytesOf(sql`coin ->> 'token'`)},
           case when is_ask then from_address else to_address end,
           case when is_ask then to_address else ${bytesOf(sql`nft ->> 'recipient'`)} end,
           case when is_ask then 'ask' else 'bid' end,
           coalesce(fee.marketplace, ${nameIn(zones, sql`payload ->> 'zone'`)},
                    ${marketplaceOfCalldata(sql`payload ->> 'calldataTail'`)}, 'unknown'),
           'seaport', ${nameIn(seaportVersions, hexOf("exchange"))}, exchange, order_hash, fee.fees, log_index, hash, number,
           block_hash, timestamp, (nft ->> 'itemType')::int in (${sql.join(erc1155Types.map((one) => sql.lit(one)))})
    from (${fills(window, rules)}) filled
    cross join lateral (${payment}) paid
    cross join lateral (${feesOf(feeLegs, sql`paid.wei`, rules.feeRecipient)}) fee
    cross join lateral (${blockAndTransaction}) placed
    where ${nameIn(seaportVersions, hexOf("exchange"))} is not null and paid.wei > 0`;
}

/**
 * Fills of one NFT that are the only fact of their transaction that sales are made of, with a recipient and a seller
 * other than the NFT's contract.
 */
const fills = (window: FactWindow, rules: BulkRules) => sql`
  select f.*, (nft ->> 'amount')::numeric as quantity
  from (${soleFacts(window, rules, "order_fulfilled")}) sole
  cross join lateral (
    select f.*, is_ask, case when is_ask then given else asked end as nft,
           case when is_ask then asked else given end as coin,
           case when is_ask then payload -> 'consideration' else (payload -> 'consideration') - 0 end as legs,
           case when is_ask then ${hexOf("from_address")} else ${hexOf("to_address")} end as seller
    from ${window.facts} f
    cross join lateral (
      select payload -> 'offer' -> 0 as given, payload -> 'consideration' -> 0 as asked,
             (payload -> 'offer' -> 0 ->> 'itemType')::int >= ${sql.lit(ERC721)} as is_ask
      offset 0
    ) item
    where f.position = sole.position and jsonb_array_length(payload -> 'offer') = 1
    offset 0
  ) f
  where to_address <> ${zeroAddress} and (nft ->> 'itemType')::int >= ${sql.lit(ERC721)}
    and nft ->> 'amount' <> '0' and nft ->> 'token' <> seller
  offset 0`;

/** Wei of all legs. */
const legsWei = sql`sum((leg ->> 'amount')::numeric)`;

/**
 * All that a listing asks for, if it is one currency and the seller gets some of it; all that a bid offers, if its fees
 * are paid in that currency and do not exceed it.
 */
const payment = sql`
  select case when is_ask then ${legsWei} else (coin ->> 'amount')::numeric end as wei
  from jsonb_array_elements(legs) leg
  having coalesce(bool_and((leg ->> 'itemType')::int < ${sql.lit(ERC721)} and leg ->> 'token' = coin ->> 'token'), true)
    and case when is_ask then bool_or(leg ->> 'recipient' = seller)
             else coalesce(${legsWei}, 0) <= (coin ->> 'amount')::numeric end`;

const feeLegs = sql`
  select leg ->> 'recipient' as recipient, (leg ->> 'amount')::numeric as wei
  from jsonb_array_elements(legs) leg
  where leg ->> 'recipient' <> seller`;
