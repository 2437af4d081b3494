import { type RawBuilder, sql } from "kysely";
import type { Session } from "../database.ts";
import {
  chosenTokens,
  planned,
  type TokenKey,
  type TokenSort,
  type TokensFilter,
} from "./filter.ts";
import { listedNow } from "./listed-now.ts";
import { type Part, partsOf } from "./parts.ts";
import { countTokens } from "./read-total.ts";

/** Places in order, and how many tokens the filter matches. */
export async function readTokenPage(
  session: Session,
  filter: TokensFilter,
  sort: TokenSort,
  slice: { limit: number; after: TokenKey | null },
  now: Date,
): Promise<{ total: bigint; rows: TokenKey[] }> {
  const totals = await countTokens(session, filter, now);
  const plan = planned(filter, sort, totals);
  const parts = partsOf(plan, sort, totals);
  const { rows } = await sql<TokenKey>`
    with ${listedNow(now)},
    chosen as materialized (${plan.isNarrow ? chosenTokens(filter) : nobody}),
    first as materialized (${pageOf(parts, 0, slice)}),
    second as materialized (${pageOf(parts, 1, slice)})
    select * from (
      select 0 as part, contract_id as "contractId", token_id as "tokenId", standard, value, place from first
      union all
      select 1, contract_id, token_id, standard, 0, place from second
    ) page
    order by part, place limit ${slice.limit}`.execute(session);
  return { total: totals.matching, rows };
}

/** A part's first rows, numbered; nothing where the part before fills the page or the cursor is beyond. */
function pageOf(
  parts: readonly Part[],
  number: number,
  { limit, after }: { limit: number; after: TokenKey | null },
): RawBuilder<unknown> {
  const part = parts.find((one) => one.number === number);
  if (part === undefined || (after !== null && after.part > number)) return nothing;
  const from = after?.part === number ? after : null;
  const isWanted = number === 0 ? sql`true` : sql`(select count(*) from first) < ${limit}`;
  return sql`
    select page.*, row_number() over (${part.order}) as place
    from (select * from (${part.rows(from, limit)}) rows where ${isWanted} ${part.order} limit ${limit}) page`;
}

const nobody = sql`
  select 0 as contract_id, 0::numeric as token_id, 0::smallint as standard where false`;

const nothing = sql`
  select 0 as contract_id, 0::numeric as token_id, 0::smallint as standard, 0::numeric as value, 0::bigint as place
  where false`;
