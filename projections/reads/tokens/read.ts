import { sql } from "kysely";
import type { Database } from "../../database.ts";
import { isRankingOld } from "../rarity/stale.ts";
import type { TokenKey, TokenSort, TokensFilter } from "./filter.ts";
import { type DescribedToken, detailed, detailsIn, type TokenDetails } from "./read-details.ts";
import { pageOf, type TokenSlice } from "./read-page.ts";

/** `total`: how many tokens match; null where traits alone tell which. `isRankingStale`: it is about to be made anew. */
type TokenList = {
  total: bigint | null;
  isRankingStale: boolean;
  rows: (TokenDetails & { key: TokenKey })[];
};

type Row = DescribedToken & TokenKey & Omit<TokenList, "rows">;

/** Tokens in order, each with its place in the list, and how many the filter matches, in one statement. */
export async function readTokens(
  db: Database,
  filter: TokensFilter,
  sort: TokenSort,
  slice: TokenSlice,
  now: Date,
): Promise<TokenList> {
  const { collectionId } = filter;
  const place = sql`asked.ord, asked.part, asked.value`;
  const { rows } = await sql<Row>`
    with ${pageOf(filter, sort, slice, now)}, ${detailed(collectionId, now, place)}
    select totals.matching as total, ${isRankingOld(collectionId)} as "isRankingStale", told.*
    from totals left join detailed told on true
    order by told.ord`.execute(db);
  const { total = null, isRankingStale = true } = rows[0] ?? {};
  const found = rows.filter(({ standard }) => standard !== null);
  return { total, isRankingStale, rows: found.map((row) => ({ ...detailsIn(row), key: row })) };
}
