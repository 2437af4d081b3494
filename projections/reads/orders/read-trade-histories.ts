import { sql } from "kysely";
import type { Address } from "viem";
import type { Database } from "#projections/log/database.ts";
import type { TradeHistory } from "#projections/domain/orders/order-quotas.ts";
import { isOpen } from "#projections/order-state/status-sql.ts";
import { byteaArray } from "#projections/log/sql-values.ts";

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
