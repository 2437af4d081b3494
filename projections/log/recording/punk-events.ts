import { type RawBuilder, sql } from "kysely";
import { zeroAddress } from "viem";
import { blockNumberOf } from "../block-id.ts";
import { kindLiteral } from "../fact-kind-sql.ts";
import { logHead } from "../read-log-head.ts";

/**
 * CryptoPunks are no ERC-721 tokens: one event, `PunkBought`, is a sale and moves the punk, and where a bid was taken it
 * names neither buyer nor price. The event becomes two facts, and stores the bid. Of `e`, a row of events to be staged.
 */
const isBought = sql`(e.source = 'CryptoPunks' and e.name = 'PunkBought')`;

/** Of the second fact of an event: no position in a batch, nor of a sale in a transaction, is as large. */
const ACCOMPANYING_SUB_INDEX = 1_000_000;

const namedBuyer = sql`nullif(e.a ->> 'toAddress', ${sql.lit(zeroAddress)})`;

/** Who got the punk: as the event says, else as the receipt does, which the event is stored with. */
const buyer = sql`coalesce(${namedBuyer}, (
  select moved ->> 'to' from jsonb_array_elements(e.transfers) moved
  where (moved ->> 'logIndex')::int = e.log_index limit 1))`;

/** The transfer that a purchase is as well: sub_index, kind, token_id, from, to. */
export const punkTransfer = sql`
  select ${sql.lit(ACCOMPANYING_SUB_INDEX)}, ${kindLiteral("erc721_transfer")}, (e.a ->> 'punkIndex')::numeric,
         e.a ->> 'fromAddress', ${buyer}
  where ${isBought} and ${buyer} is not null`;

/** SQL: `{"bid": {bidder, wei}}`, the bid that a purchase took: the punk's last one before it; null for other events. */
export function takenBid(events: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    case when ${isBought} and ${namedBuyer} is null then (
      select jsonb_build_object('bid', jsonb_build_object('bidder', bid.bidder, 'wei', bid.wei))
      from (
        select b.block_number, b.log_index, b.a ->> 'fromAddress' as bidder, b.a ->> 'value' as wei
        from (${events}) b
        where b.source = e.source and b.name = 'PunkBidEntered' and b.address = e.address
          and b.a ->> 'punkIndex' = e.a ->> 'punkIndex'
        union all
        select recorded.* from (${recordedBid}) recorded
      ) bid
      where (bid.block_number, bid.log_index) < (e.block_number, e.log_index)
      order by bid.block_number desc, bid.log_index desc limit 1
    ) end`;
}

/** The last effective bid on a punk in the log, of blocks below the event's. */
const recordedBid = sql`
  select ${blockNumberOf(sql`f.block_id`)}, f.log_index, '0x' || encode(f.from_address, 'hex'), f.amount::text
  from log.contract c join log.fact f using (contract_id)
  where c.chain_id = e.chain_id and c.address = decode(substr(e.address, 3), 'hex')
    and f.kind = ${kindLiteral("bid_entered")} and f.token_id = (e.a ->> 'punkIndex')::numeric
    and ${blockNumberOf(sql`f.block_id`)} <= e.block_number::bigint
    and f.block_id not in (select r.block_id from log.retracted_blocks(${logHead}) r)
  order by f.block_id desc, f.log_index desc limit 1`;
