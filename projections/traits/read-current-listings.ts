import { type RawBuilder, sql } from "kysely";
import { unixSeconds } from "#projections/orders/read-orders.ts";
import { tokensAt } from "../engine/token-ids.ts";
import { anyValue } from "../log/sql-values.ts";

/**
 * CTEs that bring the listed tokens of `traits`, derived as of the last tick, up to a time: `expired_token`, tokens of
 * which a listing has ended since, and `replacement_listing`, the cheapest listing left of each. Mostly both are empty:
 * `distinct on` sorts and does not allocate a hash table of megabytes first.
 */
export function currentListings(now: Date): RawBuilder<unknown> {
  const seconds = anyValue(unixSeconds(now), "bigint");
  return sql`
    expired_token as materialized (
      select distinct on (contract_id, token_id) * from (
        select o.contract_id, o.token_id from listings.listing o
        where o.status in ('active', 'inactive') and o.status = 'active' and o.end_time <= ${seconds} offset 0
      ) o
    ), replacement_listing as materialized (
      select e.contract_id, e.token_id, o.*
      from expired_token e cross join lateral (
        select o.standard, o.order_hash, o.unit_price_wei, o.position, max(o.created_at) over () as listed_at
        from listings.listing o
        where o.contract_id = e.contract_id and o.token_id = e.token_id and o.status = 'active'
          and o.end_time > ${seconds}
          and exists (
            select from ${tokensAt(sql`e.contract_id`, sql`e.token_id`)} t where t.standard = o.standard
          )
        order by o.unit_price_wei, o.position limit 1
      ) o
    )`;
}

/** SQL: whether no listing of the row's token has ended, so that its row in `traits` is current. */
export function hasNoEndedListing(row: "l" | "t"): RawBuilder<unknown> {
  const [contractId, tokenId] = [sql.ref(`${row}.contract_id`), sql.ref(`${row}.token_id`)];
  return sql`not exists (
    select from expired_token e where e.contract_id = ${contractId} and e.token_id = ${tokenId}
  )`;
}

/** SQL: whether the token of row `t` is listed; looked up per row, since a page needs few of them. */
export const isListed = sql`(
  exists (
    select from traits.listed_token l
    where l.contract_id = t.contract_id and l.token_id = t.token_id and l.standard = t.standard and ${hasNoEndedListing("l")}
    offset 0
  ) or exists (
    select from replacement_listing l
    where l.contract_id = t.contract_id and l.token_id = t.token_id and l.standard = t.standard
    offset 0
  )
)`;

/** SQL: whether the token of row `t` matches the filter `listed`. */
export function matchesListed({ listed }: { listed: boolean | null }): RawBuilder<unknown> {
  if (listed === null) return sql`true`;
  return listed ? isListed : sql`not ${isListed}`;
}
