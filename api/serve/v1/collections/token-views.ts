import type { Database } from "#projections/log/database.ts";
import type { TokenKey } from "#projections/tokens/read-token-filter.ts";
import { type HashedToken, readHashedTokens, readTokens, type TokensQuery } from "#projections/tokens/read-tokens.ts";
import { readTokenDetails, type TokenDetails, type TokenParts } from "#projections/tokens/read-token-details.ts";
import { rowCache, type Viewing, viewCached } from "#api/http/reads/cache.ts";

type Query = TokensQuery & { readonly parts: TokenParts };
type Row = { readonly key: TokenKey };
type Page<View> = {
  readonly total: bigint;
  readonly isRankingStale: boolean;
  readonly rows: readonly Row[];
  /** Of the first so many rows. */
  readonly view: (count: number) => Promise<View[]>;
};

/**
 * A page of tokens as they are shown. First pages are asked for again and again: from the second time on only the tokens
 * that have changed are read and made anew. Who walks through all tokens would not find them here, so other pages are
 * read at once.
 */
export async function readTokenViews<View extends object>(
  db: Database,
  query: Query,
  viewing: Viewing<TokenDetails, View>,
): Promise<Page<View>> {
  const { variant, present } = viewing;
  const cache = query.slice.after === null ? rowCache(db, viewing) : undefined;
  if (cache === undefined) {
    const page = await readTokens(db, query);
    return { ...page, view: async (count) => page.rows.slice(0, count).map(present) };
  }
  const page = await readHashedTokens(db, query);
  const nameOf = ({ key, contentHash }: HashedToken) =>
    `token ${key.contractId} ${key.tokenId} ${key.standard} ${contentHash} ${variant}`;
  const { collectionId } = query.filter;
  const make = async (others: readonly Row[]) => {
    const tokens = others.map(({ key }) => key);
    return (await readTokenDetails(db, tokens, { ...query, collectionId })).map(present);
  };
  return {
    ...page,
    view: (count) => viewCached(cache, page.rows.slice(0, count), nameOf, make),
  };
}
