import type { Database } from "../database.ts";
import type { TokenKey, TokenSort, TokensFilter } from "./filter.ts";
import { readTokenDetails, type TokenDetails } from "./read-details.ts";
import { readTokenPage, type TokenPage } from "./read-page.ts";

export type TokenSlice = { limit: number; after: TokenKey | null };

type TokenList = Omit<TokenPage, "rows"> & { rows: (TokenDetails & { key: TokenKey })[] };

/** Tokens in order, each with its place in the list, and how many the filter matches, of one moment. */
export async function readTokens(
  db: Database,
  filter: TokensFilter,
  sort: TokenSort,
  slice: TokenSlice,
  now: Date,
): Promise<TokenList> {
  return await db
    .transaction()
    .setIsolationLevel("repeatable read")
    .setAccessMode("read only")
    .execute(async (session) => {
      const { rows: keys, ...told } = await readTokenPage(session, filter, sort, slice, now);
      const details = await readTokenDetails(session, filter.collectionId, keys, now);
      return {
        ...told,
        rows: keys.flatMap((key, place) => {
          const token = details[place];
          return token === undefined ? [] : [{ ...token, key }];
        }),
      };
    });
}
