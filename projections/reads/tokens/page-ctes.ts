import { type RawBuilder, sql } from "kysely";
import { anyValue } from "../../sql/any-value.ts";
import { currentListings } from "../traits/current-listings.ts";
import type { TokenKey, TokenSort, TokensFilter } from "./filter.ts";
import { type ListPart, listParts } from "./list-parts.ts";
import { totalsCtes } from "./totals-ctes.ts";

export type TokenSlice = { limit: number; after: TokenKey | null };

/**
 * CTEs: `totals`, whose `matching` is the number of matching tokens (null for a filter by traits only), and `requested`,
 * the page's tokens (part, value, contract_id, token_id, standard) with their order `ord`.
 */
export function pageCtes(
  filter: TokensFilter,
  sort: TokenSort,
  { limit, after }: TokenSlice,
  now: Date,
): RawBuilder<unknown> {
  const pageSize = anyValue<bigint>(limit, "bigint");
  const parts = listParts(filter, sort, pageSize);
  return sql`
    ${currentListings(now)}, ${totalsCtes(filter, after)},
    first_part as materialized (${rowsOf(parts, 0, { pageSize, after })}),
    second_part as materialized (${rowsOf(parts, 1, { pageSize, after })}),
    requested as materialized (
      select *, row_number() over (order by part, row_in_part) as ord
      from (
        select 0 as part, contract_id, token_id, standard, value, row_in_part from first_part
        union all
        select 1, contract_id, token_id, standard, 0, row_in_part from second_part
      ) page
      order by part, row_in_part limit ${pageSize}
    )`;
}

type Slice = { pageSize: RawBuilder<unknown>; after: TokenKey | null };

/** A part's first rows, numbered; none where the part before fills the page or the cursor is past this part. */
function rowsOf(
  parts: readonly ListPart[],
  number: number,
  { pageSize, after }: Slice,
): RawBuilder<unknown> {
  const part = parts.find((one) => one.number === number);
  if (part === undefined || (after !== null && after.part > number)) return noRows;
  const from = after?.part === number ? after : null;
  const isNeeded = number === 0 ? sql`true` : sql`(select count(*) from first_part) < ${pageSize}`;
  return sql`
    select page.*, row_number() over (${part.order}) as row_in_part
    from (select * from (${part.rows(from, pageSize)}) rows where ${isNeeded} ${part.order} limit ${pageSize}) page`;
}

const noRows = sql`
  select 0 as contract_id, 0::numeric as token_id, 0::smallint as standard, 0::numeric as value, 0::bigint as row_in_part
  where false`;
