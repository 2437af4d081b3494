import { sql } from "kysely";
import type { Database } from "../../database.ts";
import { rankingIsOutdated } from "../rarity/outdated-rankings.ts";
import type { TokenKey, TokenSort, TokensFilter } from "./filter.ts";
import { pageCtes, type TokenSlice } from "./page-ctes.ts";
import {
  type DescribedToken,
  detailsCtes,
  detailsOfRow,
  listedTokenParts,
  type TokenDetails,
  type TokenParts,
} from "./token-details.ts";

/** `total`: number of matching tokens. `isRankingStale`: ranks that were wanted will soon be recomputed. */
type TokenList = {
  total: bigint;
  isRankingStale: boolean;
  rows: (TokenDetails & { key: TokenKey })[];
};

type Row = DescribedToken & TokenKey & Omit<TokenList, "rows">;

/** Tokens in order, each with its cursor key, and the number of matching tokens, in one statement. */
export async function readTokens(
  db: Database,
  filter: TokensFilter,
  sort: TokenSort,
  slice: TokenSlice,
  now: Date,
  parts: TokenParts = listedTokenParts,
): Promise<TokenList> {
  const { collectionId } = filter;
  const isStale = parts.has("rank") ? rankingIsOutdated(collectionId) : sql`false`;
  const columns = sql`requested.ord, requested.part, requested.value`;
  const { rows } = await sql<Row>`
    with ${pageCtes(filter, sort, slice, now)}, ${detailsCtes({ collectionId, parts, now }, columns)}
    select totals.matching as total, ${isStale} as "isRankingStale", token_detail.*
    from totals left join token_detail on true
    order by token_detail.ord`.execute(db);
  const { total = 0n, isRankingStale = true } = rows[0] ?? {};
  const found = rows.filter(({ standard }) => standard !== null);
  return { total, isRankingStale, rows: found.map((row) => ({ ...detailsOfRow(row), key: row })) };
}
