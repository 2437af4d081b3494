import type { Database } from "../../../../projections/database.ts";
import type { TokenKey } from "../../../../projections/reads/tokens/filter.ts";
import {
  type HashedToken,
  readHashedTokens,
  readTokens,
  type TokensQuery,
} from "../../../../projections/reads/tokens/read-tokens.ts";
import {
  readTokenDetails,
  type TokenDetails,
  type TokenParts,
} from "../../../../projections/reads/tokens/token-details.ts";
import { keptRows, viewKept } from "../../http/reads/kept-rows.ts";

type Viewing<View> = {
  /** Names the list: its filter, order and page size. */
  readonly list: string;
  /** What `present` depends on in addition to the token. */
  readonly manner: string;
  readonly present: (token: TokenDetails) => View;
};

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
export async function readTokenPage<View extends object>(
  db: Database,
  query: Query,
  { list, manner, present }: Viewing<View>,
): Promise<Page<View>> {
  const known = query.slice.after === null ? keptRows(db, `${manner} ${list}`) : undefined;
  if (known === undefined) {
    const page = await readTokens(db, query);
    return { ...page, view: async (count) => page.rows.slice(0, count).map(present) };
  }
  const page = await readHashedTokens(db, query);
  const nameOf = ({ key, contentHash }: HashedToken) =>
    `token ${key.contractId} ${key.tokenId} ${key.standard} ${contentHash} ${manner}`;
  const { collectionId } = query.filter;
  const make = async (others: readonly Row[]) => {
    const tokens = others.map(({ key }) => key);
    return (await readTokenDetails(db, tokens, { ...query, collectionId })).map(present);
  };
  return {
    ...page,
    view: (count) => viewKept(known, page.rows.slice(0, count), nameOf, make),
  };
}
