import { type RawBuilder, sql } from "kysely";
import { anyValue } from "../any-value.ts";
import type { Session } from "../database.ts";
import { isRankingOld } from "../rarity/stale.ts";
import { waysTo } from "./candidates.ts";
import type { TokenKey, TokenSort, TokensFilter } from "./filter.ts";
import { listedNow } from "./listed-now.ts";
import { type Part, partsOf } from "./parts.ts";
import { totalsOf } from "./totals.ts";

/** `total`: how many tokens match; null where traits alone tell which. `isRankingStale`: it is about to be made anew. */
export type TokenPage = { total: bigint | null; isRankingStale: boolean; rows: TokenKey[] };

/** Places in order, in one statement. */
export async function readTokenPage(
  session: Session,
  filter: TokensFilter,
  sort: TokenSort,
  { limit, after }: { limit: number; after: TokenKey | null },
  now: Date,
): Promise<TokenPage> {
  const wanted = anyValue<bigint>(limit, "bigint");
  const parts = partsOf(filter, sort, waysTo(filter, sort, wanted));
  const { rows } = await sql<TokenKey & Omit<TokenPage, "rows">>`
    with ${listedNow(now)}, ${totalsOf(filter)},
    first as materialized (${pageOf(parts, 0, { wanted, after })}),
    second as materialized (${pageOf(parts, 1, { wanted, after })})
    select totals.matching as total, ${isRankingOld(filter.collectionId)} as "isRankingStale", page.*
    from totals left join (
      select 0 as part, contract_id as "contractId", token_id as "tokenId", standard, value, place from first
      union all
      select 1, contract_id, token_id, standard, 0, place from second
    ) page on true
    order by part, place limit ${wanted}`.execute(session);
  const { total = null, isRankingStale = true } = rows[0] ?? {};
  return { total, isRankingStale, rows: rows.filter(({ standard }) => standard !== null) };
}

type Slice = { wanted: RawBuilder<unknown>; after: TokenKey | null };

/** A part's first rows, numbered; nothing where the part before fills the page or the cursor is beyond. */
function pageOf(
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
