import type { Database } from "../../database.ts";
import { nameOfToken } from "../../sql/token-place.ts";
import { type CollectionName, readCollectionNames } from "../collections/read-collection-names.ts";
import type { WalletToken } from "../ownership/read-wallet-tokens.ts";
import {
  readWalletTokens,
  type WalletFilter,
  type WalletTokenCursor,
} from "../ownership/read-wallet-tokens.ts";
import { readTokenDetails, type TokenDetails } from "./token-details.ts";

/** A token of a wallet, with its details. */
export type WalletTokenDetails = TokenDetails & { held: WalletToken; collection: CollectionName };

/** A page of tokens for each wallet, all from one snapshot. */
export async function readWalletTokenDetails(
  db: Database,
  filters: readonly WalletFilter[],
  slice: { limit: number; after: WalletTokenCursor | null },
  now: Date,
): Promise<WalletTokenDetails[][]> {
  return await db
    .transaction()
    .setIsolationLevel("repeatable read")
    .setAccessMode("read only")
    .execute(async (session) => {
      const lists: WalletToken[][] = [];
      for (const filter of filters) lists.push(await readWalletTokens(session, filter, slice));
      const all = lists.flat();
      const details = await readTokenDetails(session, null, all, now);
      const names = await readCollectionNames(
        session,
        all.map(({ contractId }) => contractId),
      );
      const detailsByToken = new Map(details.map((token) => [nameOf(token.row), token]));
      return lists.map((list) =>
        list.map((held) => {
          const [token, collection] = [
            detailsByToken.get(nameOf(held)),
            names.get(held.contractId),
          ];
          if (token === undefined || collection === undefined)
            throw new Error(`token ${held.tokenId} of contract ${held.contractId} was not read`);
          return { ...token, held, collection };
        }),
      );
    });
}

const nameOf = (token: WalletTokenCursor): string => `${nameOfToken(token)}/${token.standard}`;
