import { sql } from "kysely";
import type { Address, Hex } from "viem";
import type { Database } from "#projections/log/database.ts";

/** A bid and how many other makers have an active bid on its contract at its price or above. */
export type BidRank = { orderHash: Hex; higherBidders: number };

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
