import { type RawBuilder, sql } from "kysely";
import type { Address } from "viem";
import type { FactWindow } from "../../engine/projection.ts";
import { kindLiteral } from "../../log/fact-kind-sql.ts";
import { zeroAddress } from "../../sql/burn-address.ts";
import { calldataTags, feeRecipients, zones } from "../model/attribution.ts";
import type { BulkRules } from "../model/exchange.ts";
import { BPS, ROYALTY_MAX_BPS } from "../model/fees.ts";
import { ERC721, erc1155Types } from "./order-facts.ts";
import { versions } from "./read-orders.ts";

/**
 * Sales of transactions that fill one order: a listing of one NFT for one currency, some of it for its maker, or a bid
 * of one currency for one NFT. The same rows as `trades.ts` makes of them, for a third of the work.
 */
export function selectSimpleSales(
  window: FactWindow,
  { feeRecipient, saleKinds }: BulkRules,
): RawBuilder<unknown> {
  return sql`
    select block_id, transaction_index, 0, sha256(convert_to(chain_id || ' ' || ${hexOf("hash")} || ' 0', 'UTF8')),
           chain_id, ${contractId}, (nft ->> 'identifier')::numeric, quantity, div(paid.wei, quantity),
           paid.wei, ${bytesOf(sql`coin ->> 'token'`)}, case when is_ask then from_address else to_address end,
           case when is_ask then to_address else ${bytesOf(sql`nft ->> 'recipient'`)} end,
           case when is_ask then 'ask' else 'bid' end,
           coalesce(fee.marketplace, ${nameIn(zones, sql`payload ->> 'zone'`)},
                    ${nameIn(calldataTags, sql`payload ->> 'calldataTail'`)}, 'unknown'),
           'seaport', ${nameIn(versions, hexOf("exchange"))}, exchange, order_hash, fee.fees, log_index, hash, number,
           block_hash, timestamp, (nft ->> 'itemType')::int in (${sql.join(erc1155Types.map((one) => sql.lit(one)))})
    from (${fills(window, saleKinds)}) filled
    cross join lateral (${payment}) paid
    cross join lateral (${feesPaid(feeRecipient)}) fee
    cross join lateral (${blockAndTransaction}) placed
    where ${nameIn(versions, hexOf("exchange"))} is not null and paid.wei > 0`;
}

const hexOf = (column: string) => sql`('0x' || encode(${sql.ref(column)}, 'hex'))`;
const bytesOf = (text: RawBuilder<unknown>) => sql`decode(substr(${text}, 3), 'hex')`;
const nameIn = (names: ReadonlyMap<string, string>, key: RawBuilder<unknown>) =>
  sql`${sql.lit(JSON.stringify(Object.fromEntries(names)))}::jsonb ->> (${key})`;

/**
 * Fills of one NFT that are the only fact of their transaction that sales are made of, with a recipient and a seller
 * other than the NFT's contract. The planner cannot estimate how many there are: joined rows are looked up one by one.
 */
const fills = (window: FactWindow, saleKinds: RawBuilder<unknown>) => sql`
  select f.*, (nft ->> 'amount')::numeric as quantity
  from (
    select position, count(*) over (partition by block_id, transaction_index) as facts_of_transaction
    from ${window.changes} where kind in ${saleKinds}
  ) counted
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
    where f.position = counted.position and kind = ${kindLiteral("order_fulfilled")}
      and jsonb_array_length(payload -> 'offer') = 1
    offset 0
  ) f
  where facts_of_transaction = 1 and to_address <> ${zeroAddress} and (nft ->> 'itemType')::int >= ${sql.lit(ERC721)}
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

/** In the order of the legs. Built as text: building a JSON object costs three times as much. */
function feesPaid(feeRecipient: Address): RawBuilder<unknown> {
  const earners = new Map(feeRecipients).set(feeRecipient, "native");
  return sql`
    select (array_agg(earner) filter (where earner is not null))[1] as marketplace,
           ('[' || coalesce(string_agg(
             '{"recipient": "' || recipient || '", "wei": "' || wei || '", "bps": ' || bps
             || ', "kind": "' || kind || '"}', ','), '') || ']')::jsonb as fees
    from (
      select *, case when earner is not null then 'service' when bps <= ${sql.lit(ROYALTY_MAX_BPS)} then 'royalty'
                     else 'other' end as kind
      from (
        select leg ->> 'recipient' as recipient, leg ->> 'amount' as wei,
               ${nameIn(earners, sql`leg ->> 'recipient'`)} as earner,
               case when paid.wei = 0 then 0
                    else div((leg ->> 'amount')::numeric * ${sql.lit(BPS)} + div(paid.wei, 2), paid.wei) end as bps
        from jsonb_array_elements(legs) leg
        where leg ->> 'recipient' <> seller
        offset 0
      ) leg
    ) fee`;
}

/** Block, transaction and exchange of a fill. */
const blockAndTransaction = sql`
  select block.chain_id, block.number, block.hash as block_hash, block.timestamp, transaction.hash,
         contract.address as exchange
  from log.block, log.transaction, log.contract
  where block.block_id = filled.block_id and transaction.block_id = filled.block_id
    and transaction.transaction_index = filled.transaction_index and contract.contract_id = filled.contract_id
  offset 0`;

const contractId = sql`(
  select contract.contract_id from log.contract
  where contract.chain_id = placed.chain_id and contract.address = coalesce((
    select stands_for from log.contract_alias alias
    where alias.chain_id = placed.chain_id and alias.address = ${bytesOf(sql`nft ->> 'token'`)}
  ), ${bytesOf(sql`nft ->> 'token'`)})
)`;
