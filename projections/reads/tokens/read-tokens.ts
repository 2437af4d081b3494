import { type RawBuilder, sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import { rankingIsOutdated } from "../rarity/outdated-rankings.ts";
import type { TokenKey, TokenSort, TokensFilter } from "./filter.ts";
import { pageCtes, type TokenSlice } from "./page-ctes.ts";
import { type DescribedToken, detailsCtes, detailsOfRow, listedTokenParts, type TokenDetails, type TokenParts } from "./token-details.ts";

/** Which tokens, in which order, and what of each. */
export type TokensQuery = {
  readonly filter: TokensFilter;
  readonly sort: TokenSort;
  readonly slice: TokenSlice;
  readonly now: Date;
  readonly parts?: TokenParts;
};

/** `total`: number of matching tokens. `isRankingStale`: ranks that were wanted will soon be recomputed. */
type TokenList<Row> = { total: bigint; isRankingStale: boolean; rows: Row[] };
type Totals = Omit<TokenList<unknown>, "rows">;

type KeyedToken = TokenDetails & { key: TokenKey };
/** `contentHash`: equal for one token means that all of its wanted details are equal. */
export type HashedToken = { key: TokenKey; contentHash: bigint };

/** Tokens in order, each with its cursor key, and the number of matching tokens, in one statement. */
export async function readTokens(db: Database, query: TokensQuery): Promise<TokenList<KeyedToken>> {
  const columns = sql`requested.ord, requested.part, requested.value, detail.*`;
  const { rows, ...totals } = await readList<DescribedToken>(db, query, columns);
  return { ...totals, rows: rows.map((row) => ({ ...detailsOfRow(row), key: row })) };
}

/** The same tokens without their details: `readTokenDetails` reads those of the tokens that the caller does not know. */
export async function readHashedTokens(
  db: Database,
  query: TokensQuery,
): Promise<TokenList<HashedToken>> {
  const columns = sql`
    requested.ord, requested.part, requested.value, requested.contract_id as "contractId",
    requested.token_id as "tokenId", requested.standard, hash_record_extended(detail, 0) as "contentHash"`;
  const { rows, ...totals } = await readList<HashedToken>(db, query, columns);
  return { ...totals, rows: rows.map((row) => ({ key: row, contentHash: row.contentHash })) };
}

async function readList<Row>(
  db: Database,
  { filter, sort, slice, now, parts = listedTokenParts }: TokensQuery,
  columns: RawBuilder<unknown>,
): Promise<TokenList<Row & TokenKey>> {
  const { collectionId } = filter;
  const isStale = parts.has("rank") ? rankingIsOutdated(collectionId) : sql`false`;
  const { rows } = await sql<Row & TokenKey & Totals>`
    with ${pageCtes(filter, sort, slice, now)}, ${detailsCtes({ collectionId, parts, now }, columns)}
    select totals.matching as total, ${isStale} as "isRankingStale", token_detail.*
    from totals left join token_detail on true
    order by token_detail.ord`.execute(db);
  const { total = 0n, isRankingStale = true } = rows[0] ?? {};
  return { total, isRankingStale, rows: rows.filter(({ standard }) => standard !== null) };
}
