import { type RawBuilder, sql } from "kysely";
import { anyValue } from "../../sql/any-value.ts";
import { unixSeconds } from "../orders/read-shown.ts";
import type { StandardToken } from "./filter.ts";

/** CTE: the tokens, in the order given. */
export function asked(places: readonly StandardToken[]): RawBuilder<unknown> {
  const contracts = places.map(({ contractId }) => contractId);
  const ids = places.map(({ tokenId }) => String(tokenId));
  const standards = places.map(({ standard }) => standard);
  return sql`
    asked as materialized (
      select * from unnest(
        ${anyValue(contracts, "int[]")}, ${anyValue(ids, "numeric[]")}, ${anyValue(standards, "int[]")}
      ) with ordinality one (contract_id, token_id, standard, ord)
    )`;
}

/** Of the asked token the active listing that costs least per unit; of equal ones the older. */
export function cheapestListing(now: Date): RawBuilder<unknown> {
  return sql`
    select o.* from listings.listing o
    where o.contract_id = asked.contract_id and o.token_id = asked.token_id and ${isActive(now)}
    order by o.unit_price_wei, o.position limit 1`;
}

/**
 * CTEs, found once for all of its tokens: `family`, the asked contracts with their addresses, and `offered`, of each of
 * them the active bid on any of its tokens that nets most.
 */
export function families(now: Date): RawBuilder<unknown> {
  return sql`
    family as materialized (
      select k.contract_id, k.address
      from (select distinct contract_id from asked offset 0) own cross join lateral (
        select k.* from log.contract k where k.contract_id = own.contract_id offset 0
      ) k
    ), offered as materialized (
      select o.* from family cross join lateral (
        select o.* from bids.bid o
        where o.contract_id = family.contract_id and o.token_id is null and ${isActive(now)}
        order by o.token_id, o.seller_net_wei desc, o.position limit 1
      ) o
    )`;
}

/** Of the asked token the active bid that nets its holder most; of equal ones the token's own, then the older. */
export function bestBid(now: Date): RawBuilder<unknown> {
  return sql`
    select o.* from (
      (select o.* from bids.bid o
       where o.contract_id = asked.contract_id and o.token_id = asked.token_id and ${isActive(now)}
       order by o.seller_net_wei desc, o.position limit 1)
      union all
      select o.* from offered o where o.contract_id = asked.contract_id
    ) o
    order by o.seller_net_wei desc, o.token_id is null limit 1`;
}

export const lastSale = sql`
  select s.* from sales.sale s
  where s.contract_id = asked.contract_id and s.token_id = asked.token_id
  order by s.block_id desc, s.transaction_index desc, s.ordinal desc limit 1`;

/** The rank of the asked token in the collection; null: in its own. */
export function rankIn(collectionId: number | null): RawBuilder<unknown> {
  const id = anyValue(collectionId, "int");
  const own =
    collectionId === null
      ? sql`coalesce((select m.collection_id from collections.member m where m.contract_id = asked.contract_id), asked.contract_id)`
      : id;
  const ranked = collectionId === null ? sql`r.collection_id` : id;
  return sql`
    select r.rank, r.score, (select c.tokens from rarity.collection c where c.collection_id = ${ranked}) as ranked
    from rarity.token r
    where r.contract_id = asked.contract_id and r.token_id = asked.token_id and r.collection_id = ${own} offset 0`;
}

function isActive(now: Date): RawBuilder<unknown> {
  return sql`o.status = 'active' and o.end_time > ${anyValue(unixSeconds(now), "bigint")}`;
}
