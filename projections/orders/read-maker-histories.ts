import { type RawBuilder, sql } from "kysely";
import type { Address, Hex } from "viem";
import type { TradeHistory } from "../domain/orders/order-quotas.ts";
import type { Database } from "../log/database.ts";
import { byteaArray } from "../log/sql-values.ts";
import { hasEnded, isOpen } from "./read-orders.ts";

/** More trades than this do not raise a quota. */
const maxCounted = 500;

/** The own orders of each maker on the chain that were filled; makers without any are left out. */
export async function readMakerHistories(
  db: Database,
  chainId: number,
  makers: readonly Address[],
): Promise<Map<Address, TradeHistory>> {
  const { rows } = await sql<{ maker: Address } & TradeHistory>`
    select m.maker, count(*)::int as trades, min(t.created_at) as "firstTradeAt"
    from unnest(${byteaArray([...new Set(makers)])}) m (maker)
    cross join lateral (
      (select o.created_at from listings.listing o
       where o.maker = m.maker and o.chain_id = ${chainId} and o.status = 'filled' and o.marketplace = 'native'
       limit ${maxCounted})
      union all
      (select o.created_at from bids.bid o
       where o.maker = m.maker and o.chain_id = ${chainId} and o.filled_block_id is not null
       limit ${maxCounted})
    ) t
    group by m.maker`.execute(db);
  return new Map(rows.map(({ maker, ...history }) => [maker, history]));
}

/** Sales of a contract on any exchange, whether its collection is verified, and what is open for it here. */
export type ContractHistory = TradeHistory & {
  isVerified: boolean;
  openListings: number;
  /** Of the cheapest active listing; null: none. */
  floorWei: bigint | null;
};

/** Contracts without a fact are left out. */
export async function readContractHistories(
  db: Database,
  chainId: number,
  contracts: readonly Address[],
): Promise<Map<Address, ContractHistory>> {
  const { rows } = await sql<{ contract: Address } & ContractHistory>`
    select k.address as contract, least(coalesce(t.sales, 0), ${maxCounted})::int as trades,
           first.timestamp as "firstTradeAt", coalesce(c.verified, false) as "isVerified",
           coalesce((
             select sum(o.rows) from listings.count o
             where o.chain_id = k.chain_id and o.contract_id = k.contract_id and o.marketplace = 'native' and ${isOpen}
           ), 0)::int as "openListings",
           (select o.unit_price_wei from listings.listing o
            where o.contract_id = k.contract_id and o.status = 'active' and o.is_buyable
            order by o.unit_price_wei limit 1) as "floorWei"
    from log.contract k
    left join sales.total t on t.chain_id = k.chain_id and t.contract_id = k.contract_id
    left join collections.contract m on m.contract_id = k.contract_id
    left join collections.collection c on c.collection_id = m.collection_id
    left join lateral (
      select s.timestamp from sales.sale s where s.contract_id = k.contract_id order by s.block_id limit 1
    ) first on true
    where k.chain_id = ${chainId} and k.address = any (${byteaArray([...new Set(contracts)])})`.execute(
    db,
  );
  return new Map(rows.map(({ contract, ...history }) => [contract, history]));
}

/** How many of our own orders on the chain each maker has open; makers without any are left out. */
export async function readOpenOrderCounts(
  db: Database,
  chainId: number,
  makers: readonly Address[],
  now: Date,
): Promise<Map<Address, number>> {
  const ofTable = (table: string, condition: RawBuilder<unknown>) => sql`
    select o.maker from ${sql.table(table)} o
    where ${condition} and o.chain_id = ${chainId} and o.maker = any (${byteaArray([...new Set(makers)])}) and ${isOpen}
      and not ${hasEnded(now)}`;
  const { rows } = await sql<{ maker: Address; count: bigint }>`
    select maker, count(*) from (
      ${ofTable("listings.listing", sql`o.marketplace = 'native'`)} union all ${ofTable("bids.bid", sql`true`)}
    ) open
    group by maker`.execute(db);
  return new Map(rows.map(({ maker, count }) => [maker, Number(count)]));
}

/** A bid and how many other makers have an active bid on its contract at its price or above. */
type BidRank = { orderHash: Hex; higherBidders: number };

type RankedBid = {
  orderHash: Hex;
  maker: Address;
  contract: Address;
  unitPriceWei: bigint;
};

const digits = (hex: Hex) => hex.slice(2);

/** Bids looked at for each of them: enough to say that `atLeast` makers outbid it. */
const bidsPerMaker = 10;

/**
 * The ranks of bids on contracts with at least `atLeast` open bids. A maker counts once, and only with a bid that its
 * balance covers: the makers counted hold the price each.
 */
export async function readHigherBidders(
  db: Database,
  chainId: number,
  bids: readonly RankedBid[],
  atLeast: number,
): Promise<BidRank[]> {
  if (bids.length === 0) return [];
  const { rows } = await sql<BidRank>`
    select b.order_hash as "orderHash", h.makers::int as "higherBidders"
    from (
      select decode(t.hash, 'hex') as order_hash, decode(t.maker, 'hex') as maker, decode(t.contract, 'hex') as contract,
             t.wei
      from unnest(${bids.map(({ orderHash }) => digits(orderHash))}::text[],
                  ${bids.map(({ maker }) => digits(maker))}::text[],
                  ${bids.map(({ contract }) => digits(contract))}::text[],
                  ${bids.map(({ unitPriceWei }) => `${unitPriceWei}`)}::numeric[]) t (hash, maker, contract, wei)
    ) b
    join log.contract k on k.chain_id = ${chainId} and k.address = b.contract
    cross join lateral (
      select count(distinct s.maker) as makers from (
        select o.maker from bids.bid o
        where o.contract_id = k.contract_id and o.status = 'active' and o.unit_price_wei >= b.wei
          and o.maker <> b.maker
        order by o.unit_price_wei desc limit ${bidsPerMaker * atLeast}
      ) s
    ) h
    where (select sum(n.rows) from bids.count n
           where n.chain_id = k.chain_id and n.contract_id = k.contract_id and n.status = 'active') >= ${atLeast}`.execute(
    db,
  );
  return rows;
}
