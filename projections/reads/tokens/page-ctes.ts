import { type RawBuilder, sql } from "kysely";
import { anyValue } from "#projections/log/sql-values.ts";
import { currentListings } from "../traits/current-listings.ts";
import { namesTokens, type TokenKey, type TokenSort, type TokensFilter } from "./filter.ts";
import { type ListPart, listParts } from "./list-parts.ts";
import { totalsCtes } from "./totals-ctes.ts";

export type TokenSlice = { limit: number; after: TokenKey | null };

/**
 * CTEs: `totals`, whose `matching` is the number of matching tokens, and `requested`, the page's tokens (part, value,
 * contract_id, token_id, standard) with their order `ord`. Only what this filter and order need: every node of a plan
 * is prepared for every request.
 */
export function pageCtes(
  filter: TokensFilter,
  sort: TokenSort,
  { limit, after }: TokenSlice,
  now: Date,
): RawBuilder<unknown> {
  const pageSize = anyValue<bigint>(limit, "bigint");
  const parts = listParts(filter, sort, pageSize).filter(
    ({ number }) => after === null || after.part <= number,
  );
  return sql.join([
    ...(readsListings(filter, sort) ? [currentListings(now)] : []),
    totalsCtes(filter, after),
    ...parts.map((part) => partCte(part, parts, { pageSize, after })),
    sql`requested as materialized (${requestedOf(parts, pageSize)})`,
  ]);
}

function readsListings(filter: TokensFilter, sort: TokenSort): boolean {
  return (
    filter.listed !== null || namesTokens(filter) || (sort !== "token_id" && sort !== "rarity")
  );
}

type Slice = { pageSize: RawBuilder<unknown>; after: TokenKey | null };

const nameOf = ({ number }: ListPart) => sql.ref(`part_${number}`);

/** A part's first rows, numbered; none where the part before fills the page. */
function partCte(
  part: ListPart,
  parts: readonly ListPart[],
  { pageSize, after }: Slice,
): RawBuilder<unknown> {
  const from = after?.part === part.number ? after : null;
  const before = parts.find(({ number }) => number < part.number);
  const isNeeded =
    before === undefined
      ? sql``
      : sql`where (select count(*) from ${nameOf(before)}) < ${pageSize}`;
  return sql`
    ${nameOf(part)} as materialized (
      select ${sql.lit(part.number)} as part, page.*, row_number() over (${part.order}) as row_in_part
      from (select * from (${part.rows(from, pageSize)}) rows ${isNeeded} ${part.order} limit ${pageSize}) page
    )`;
}

/** The page's rows of all parts. */
function requestedOf(
  parts: readonly ListPart[],
  pageSize: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const [first, ...others] = parts;
  if (first === undefined) return noRows;
  if (others.length === 0) return sql`select *, row_in_part as ord from ${nameOf(first)}`;
  const all = parts.map((part) => sql`select * from ${nameOf(part)}`);
  return sql`
    select *, row_number() over (order by part, row_in_part) as ord
    from (${sql.join(all, sql` union all `)}) page
    order by part, row_in_part limit ${pageSize}`;
}

const noRows = sql`
  select 0 as part, 0 as contract_id, 0::numeric as token_id, 0::smallint as standard, 0::numeric as value, 0::bigint as ord
  where false`;
