import { type RawBuilder, sql } from "kysely";
import { zeroAddress } from "viem";
import { blurAddresses } from "#abis/blur.ts";
import type { FactWindow } from "#projections/engine/projection.ts";
import type { BulkRules } from "../model/exchange.ts";
import { BPS } from "../model/fees.ts";
import { MAX_WEI } from "../model/settle-trades.ts";
import {
  blockAndTransaction,
  bytesOf,
  contractIdOf,
  feesOf,
  hexOf,
  marketplaceOfCalldata,
  soleFacts,
} from "../model/simple-sale-sql.ts";

const text = (value: string) => sql.lit(value);

/**
 * Sales of v1's transactions that announce one trade and move one NFT, from its seller to its buyer. The same rows as
 * `tradesOfV1` gives.
 */
export function selectSimpleBlurSales(window: FactWindow, rules: BulkRules): RawBuilder<unknown> {
  return sql`
    select block_id, transaction_index, 0,
           sha256(convert_to(chain_id || ' ' || ${hexOf("hash")} || ' blur 0 0', 'UTF8')),
           chain_id, contract_id_of_nft, token_id, quantity, div(total, quantity), total, ${bytesOf(currency)},
           ${bytesOf(seller)}, ${bytesOf(sql`buy ->> 'trader'`)}, case when is_ask then 'ask' else 'bid' end,
           coalesce(fee.marketplace, ${marketplaceOfCalldata(sql`payload ->> 'calldataTail'`)}, 'blur'),
           'blur', '1', exchange,
           case when is_ask then ${bytesOf(sql`args ->> 'sellHash'`)} else ${bytesOf(sql`args ->> 'buyHash'`)} end,
           fee.fees, log_index, hash, number, block_hash, timestamp, is_erc1155
    from (${fills(window, rules)}) filled
    cross join lateral (${feesOf(payments, sql`total`, rules.feeRecipient)}) fee
    cross join lateral (${blockAndTransaction}) placed
    cross join lateral (select ${contractIdOf(sql`sell ->> 'collection'`)} as contract_id_of_nft offset 0) nft
    where ${hexOf("exchange")} = ${text(blurAddresses.v1)} and fee.wei <= total and contract_id_of_nft is not null`;
}

/** The only event of its transaction, with the only NFT that moved in it, before it and between the parties. */
const fills = (window: FactWindow, rules: BulkRules) => sql`
  select f.*, moved.*
  from (${soleFacts(window, rules, "exchange_event")}) sole
  cross join lateral (
    select f.block_id, f.transaction_index, f.log_index, f.contract_id, payload, args, sell, buy, total, quantity,
           (sell ->> 'tokenId')::numeric as token_id, ${isAsk} as is_ask
    from ${window.facts} f
    cross join lateral (select payload -> 'args' as args offset 0) event
    cross join lateral (select args -> 'sell' as sell, args -> 'buy' as buy offset 0) orders
    cross join lateral (
      select (sell ->> 'price')::numeric as total, (sell ->> 'amount')::numeric as quantity offset 0
    ) amounts
    where f.position = sole.position and payload ->> 'source' = 'Blur' and payload ->> 'event' = 'OrdersMatched'
    offset 0
  ) f
  cross join lateral (${onlyNft}) moved
  where quantity > 0 and total between 1 and ${text(MAX_WEI.toString())}::numeric
  offset 0`;

/** As `sideOf` in `blur.ts`. */
const isAsk = sql`(sell ->> 'paymentToken' = ${text(zeroAddress)}
  or (sell ->> 'listingTime')::numeric <= (buy ->> 'listingTime')::numeric)`;

const onlyNft = sql`
  select bool_and(moved ->> 'standard' = 'erc1155') as is_erc1155
  from jsonb_array_elements(payload -> 'transfers') moved
  where moved ->> 'tokenId' is not null
  having count(*) = 1 and bool_and(
    moved ->> 'contract' = sell ->> 'collection' and moved ->> 'tokenId' = sell ->> 'tokenId'
    and moved ->> 'from' = sell ->> 'trader' and moved ->> 'to' = buy ->> 'trader'
    and (moved ->> 'logIndex')::int < log_index)`;

/** As `personOf` and `currencyOf` in `blur.ts`. */
const seller = sql`case when sell ->> 'trader' = ${text(blurAddresses.blend)}
  then coalesce(payload ->> 'sender', sell ->> 'trader') else sell ->> 'trader' end`;
const currency = sql`case when sell ->> 'paymentToken' = ${text(blurAddresses.pool)}
  then ${text(zeroAddress)} else sell ->> 'paymentToken' end`;

/** Those of `paymentsOf` in `../model/fees.ts`. */
const payments = sql`
  select * from (
    select fee ->> 'recipient' as recipient, div(total * (fee ->> 'rate')::numeric, ${sql.lit(BPS)}) as wei
    from jsonb_array_elements(sell -> 'fees') fee
  ) payment where wei > 0`;
