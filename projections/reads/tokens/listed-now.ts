import { type RawBuilder, sql } from "kysely";
import { anyValue } from "../../sql/any-value.ts";
import { unixSeconds } from "../orders/read-shown.ts";

/**
 * CTEs that bring the listed tokens of `traits`, which stand as of the last tick, up to a moment: `ended` are tokens of
 * which a listing has ended since, `relisted` those of them that another one still lists. Mostly both are empty:
 * `distinct on` sorts, and makes no hash table of megabytes beforehand.
 */
export function listedNow(now: Date): RawBuilder<unknown> {
  const seconds = anyValue(unixSeconds(now), "bigint");
  return sql`
    ended as materialized (
      select distinct on (contract_id, token_id) * from (
        select o.contract_id, o.token_id from listings.listing o
        where o.status in ('active', 'inactive') and o.status = 'active' and o.end_time <= ${seconds} offset 0
      ) o
    ), relisted as materialized (
      select e.contract_id, e.token_id, o.*
      from ended e cross join lateral (
        select o.standard, o.order_hash, o.unit_price_wei, o.position, max(o.created_at) over () as listed_at
        from listings.listing o
        where o.contract_id = e.contract_id and o.token_id = e.token_id and o.status = 'active'
          and o.end_time > ${seconds}
          and exists (
            select from ownership.token t
            where t.contract_id = o.contract_id and t.token_id = o.token_id and t.standard = o.standard
          )
        order by o.unit_price_wei, o.position limit 1
      ) o
    )`;
}

/** Whether nothing of the token of a row has ended, so that what `traits` says of it stands. */
export function stands(row: "l" | "t"): RawBuilder<unknown> {
  const [contractId, tokenId] = [sql.ref(`${row}.contract_id`), sql.ref(`${row}.token_id`)];
  return sql`not exists (
    select from ended e where e.contract_id = ${contractId} and e.token_id = ${tokenId}
  )`;
}

/** Whether the token of row `t` is listed: looked up for each row, since a page needs few of them. */
export const isListed = sql`(
  exists (
    select from traits.listed l
    where l.contract_id = t.contract_id and l.token_id = t.token_id and l.standard = t.standard and ${stands("l")}
    offset 0
  ) or exists (
    select from relisted l
    where l.contract_id = t.contract_id and l.token_id = t.token_id and l.standard = t.standard
    offset 0
  )
)`;

/** Whether the token of row `t` is as the filter asks. */
export function listedIs({ listed }: { listed: boolean | null }): RawBuilder<unknown> {
  if (listed === null) return sql`true`;
  return listed ? isListed : sql`not ${isListed}`;
}
