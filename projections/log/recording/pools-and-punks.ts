import { type RawBuilder, sql } from "kysely";
import { zeroAddress } from "viem";
import { blockNumberOf, logHead } from "../blocks.ts";
import { kindLiteral } from "../fact-kinds.ts";

/**
 * Anyone can emit what a pool emits. An event of a pool is stored with the factory that created the pool, which the
 * factory's own event told before.
 */
const poolSources = [
  ...["SudoswapV1", "SudoswapV2", "SudoswapV2Erc1155", "SudoswapV2Royalty"],
  ...["SudoswapV2Erc1155Royalty", "NftxV2", "NftxV3"],
];

const factorySources = [
  ...["SudoswapV1Factory", "SudoswapV2Factory", "NftxV2Factory", "NftxV3Factory"],
  "NftxV3NamedFactory",
];

/** Pools that are paid in a coin of their own, which neither their events nor the factory's name. */
const sourcesPaidInPoolCoin = [
  "SudoswapV2",
  "SudoswapV2Erc1155",
  "SudoswapV2Royalty",
  "SudoswapV2Erc1155Royalty",
];

/** Whether an event, by its source, is of a pool that is paid in a coin of its own. */
export const isPaidInPoolCoin = (source: string): boolean => sourcesPaidInPoolCoin.includes(source);

/** SQL: the same. */
export const isPaidInPoolCoinSql = (source: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`${source} = any (${sourcesPaidInPoolCoin}::text[])`;

/** What pools are paid in, by address: a coin, the zero address for ether, null where a pool says none. */
export type PoolCoins = Readonly<Record<string, string | null>>;

/** Whether an event, by its source, creates a pool. */
export const isPoolCreation = (source: string): boolean => factorySources.includes(source);

/** SQL: the same. */
export const createsPool = (source: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`${source} = any (${factorySources}::text[])`;

/** The pools that events to be staged create: `pool`, `factory`. Of rows of such events, with the arguments `a`. */
export const createdPools = (creations: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select distinct on (a ->> 'pool') a ->> 'pool' as pool, address as factory from (${creations}) creation`;

/** SQL: whether an event, by its source, is of a pool. */
export const isOfPool = (source: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`${source} = any (${poolSources}::text[])`;

/** SQL: the factory that created the pool of an event, as the log says; null if none did. */
export const recordedFactory = (event: string): RawBuilder<string | null> => sql`(
  select '0x' || encode(c.address, 'hex')
  from log.fact f join log.contract c using (contract_id)
  where f.kind = ${kindLiteral("pool_created")}
    and f.to_address = decode(substr(${sql.ref(`${event}.address`)}, 3), 'hex')
    and c.chain_id = ${sql.ref(`${event}.chain_id`)}
    and f.block_id not in (select r.block_id from log.retracted_blocks(${logHead}) r)
  order by f.block_id limit 1)`;

/** SQL: whether a factory created the pool of an event, as `created`, the `pool` of events beside it, or the log says. */
export const isOfKnownPool = (event: string): RawBuilder<boolean> => sql<boolean>`(
  ${sql.ref(`${event}.address`)} in (select pool from created) or ${recordedFactory(event)} is not null)`;

/** Rows of `PoolCoins`: `pool`, `coin`. */
export const poolCoinRows = (coins: PoolCoins): RawBuilder<unknown> => sql`
  select key as pool, value as coin from jsonb_each(${JSON.stringify(coins)}::jsonb)`;

/**
 * SQL: `{"factory", "coin"}` of `e`, a row of events to be staged, with `created`, a row of `createdPools`, and `paid`, one
 * of `poolCoinRows`; null for others.
 */
export const poolOrigin = sql`
  case when ${isOfPool(sql`e.source`)} then
    jsonb_build_object('factory', coalesce(created.factory, ${recordedFactory("e")}))
      || case when ${isPaidInPoolCoinSql(sql`e.source`)} and paid.pool is not null
              then jsonb_build_object('coin', paid.coin) else '{}' end
  end`;

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
export const punkTransferRow = sql`
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
