import { type RawBuilder, sql } from "kysely";
import { anyValue } from "../../sql/any-value.ts";
import type { TokenKey, TokenSort, TokensFilter } from "./filter.ts";
import { listedNow } from "./listed-now.ts";
import { type Part, partsOf } from "./parts.ts";
import { totalsOf } from "./totals.ts";

export type TokenSlice = { limit: number; after: TokenKey | null };

/**
 * CTEs: `totals`, whose `matching` is how many tokens match, null where traits alone tell which; and `asked`, the places
 * of a page (part, value, contract_id, token_id, standard) with `ord`, their order.
 */
export function pageOf(
  filter: TokensFilter,
  sort: TokenSort,
  { limit, after }: TokenSlice,
  now: Date,
): RawBuilder<unknown> {
  const wanted = anyValue<bigint>(limit, "bigint");
  const parts = partsOf(filter, sort, wanted);
  return sql`
    ${listedNow(now)}, ${totalsOf(filter)},
    first as materialized (${rowsOf(parts, 0, { wanted, after })}),
    second as materialized (${rowsOf(parts, 1, { wanted, after })}),
    asked as materialized (
      select *, row_number() over (order by part, place) as ord
      from (
        select 0 as part, contract_id, token_id, standard, value, place from first
        union all
        select 1, contract_id, token_id, standard, 0, place from second
      ) page
      order by part, place limit ${wanted}
    )`;
}

type Slice = { wanted: RawBuilder<unknown>; after: TokenKey | null };

/** A part's first rows, numbered; nothing where the part before fills the page or the cursor is beyond. */
function rowsOf(
  parts: readonly Part[],
  number: number,
  { wanted, after }: Slice,
): RawBuilder<unknown> {
  const part = parts.find((one) => one.number === number);
  if (part === undefined || (after !== null && after.part > number)) return nothing;
  const from = after?.part === number ? after : null;
  const isWanted = number === 0 ? sql`true` : sql`(select count(*) from first) < ${wanted}`;
  return sql`
    select page.*, row_number() over (${part.order}) as place
    from (select * from (${part.rows(from, wanted)}) rows where ${isWanted} ${part.order} limit ${wanted}) page`;
}

const nothing = sql`
  select 0 as contract_id, 0::numeric as token_id, 0::smallint as standard, 0::numeric as value, 0::bigint as place
  where false`;
