import { type RawBuilder, sql } from "kysely";
import { anyValue } from "#projections/log/sql-values.ts";
import { unixSeconds } from "#projections/orders/read-orders.ts";
import type { StandardToken } from "./filter.ts";

/** CTE `requested`: the tokens, in their order. */
export function requestedTokens(tokens: readonly StandardToken[]): RawBuilder<unknown> {
  const contracts = tokens.map(({ contractId }) => contractId);
  const ids = tokens.map(({ tokenId }) => String(tokenId));
  const standards = tokens.map(({ standard }) => standard);
  return sql`
    requested as materialized (
      select * from unnest(
        ${anyValue(contracts, "int[]")}, ${anyValue(ids, "numeric[]")}, ${anyValue(standards, "int[]")}
      ) with ordinality one (contract_id, token_id, standard, ord)
    )`;
}

/** The cheapest active listing per unit of the requested token; of equal ones the oldest. */
export function cheapestListing(now: Date): RawBuilder<unknown> {
  return sql`
    select o.* from listings.listing o
    where o.contract_id = requested.contract_id and o.token_id = requested.token_id and ${isActive(now)}
    order by o.unit_price_wei, o.position limit 1`;
}

/**
 * CTEs, read once per contract: `requested_contract`, the requested tokens' contracts with their addresses, and
 * `best_collection_bid`, the active collection bid of each that nets the seller most.
 */
export function contractsCtes(now: Date): RawBuilder<unknown> {
  return sql`
    requested_contract as materialized (
      select k.contract_id, k.address
      from (select distinct contract_id from requested offset 0) own cross join lateral (
        select k.* from log.contract k where k.contract_id = own.contract_id offset 0
      ) k
    ), best_collection_bid as materialized (
      select o.* from requested_contract cross join lateral (
        select o.* from bids.bid o
        where o.contract_id = requested_contract.contract_id and o.token_id is null and ${isActive(now)}
        order by o.token_id, o.seller_net_wei desc, o.position limit 1
      ) o
    )`;
}

/** The active bid on the requested token that nets the seller most; of equal ones a bid on the token itself first, then the oldest. */
export function bestBid(now: Date): RawBuilder<unknown> {
  return sql`
    select o.* from (
      (select o.* from bids.bid o
       where o.contract_id = requested.contract_id and o.token_id = requested.token_id and ${isActive(now)}
       order by o.seller_net_wei desc, o.position limit 1)
      union all
      select o.* from best_collection_bid o where o.contract_id = requested.contract_id
    ) o
    order by o.seller_net_wei desc, o.token_id is null limit 1`;
}

export const lastSale = sql`
  select s.* from sales.sale s
  where s.contract_id = requested.contract_id and s.token_id = requested.token_id
  order by s.block_id desc, s.transaction_index desc, s.ordinal desc limit 1`;

/** The rank of the requested token in the collection; null: in its own. */
export function rankOfToken(collectionId: number | null): RawBuilder<unknown> {
  const id = anyValue(collectionId, "int");
  const own =
    collectionId === null
      ? sql`coalesce((select m.collection_id from collections.contract m where m.contract_id = requested.contract_id), requested.contract_id)`
      : id;
  const ranked = collectionId === null ? sql`r.collection_id` : id;
  return sql`
    select r.rank, r.score, (select c.tokens from rarity.collection c where c.collection_id = ${ranked}) as ranked
    from rarity.token r
    where r.contract_id = requested.contract_id and r.token_id = requested.token_id and r.collection_id = ${own} offset 0`;
}

function isActive(now: Date): RawBuilder<unknown> {
  return sql`o.status = 'active' and o.end_time > ${anyValue(unixSeconds(now), "bigint")}`;
}
