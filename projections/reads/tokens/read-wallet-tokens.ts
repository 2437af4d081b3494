import type { Session } from "#projections/log/database.ts";
import { nameOfToken } from "#projections/engine/token-ids.ts";
import { type CollectionName, readCollectionNames } from "#projections/collections/find-collection.ts";
import { type WalletToken, readWalletTokens, type WalletFilter, type WalletTokenCursor } from "../ownership/read-wallet-tokens.ts";
import { listedTokenParts, readTokenDetails, type TokenDetails, type TokenParts } from "./token-details.ts";

/** A token of a wallet, with its details. */
export type WalletTokenDetails = TokenDetails & { held: WalletToken; collection: CollectionName };

/** A page of tokens for each wallet. The session reads one snapshot. */
export async function readWalletTokenDetails(
  session: Session,
  filters: readonly WalletFilter[],
  slice: { limit: number; after: WalletTokenCursor | null },
  now: Date,
  parts: TokenParts = listedTokenParts,
): Promise<WalletTokenDetails[][]> {
  const lists: WalletToken[][] = [];
  for (const filter of filters) lists.push(await readWalletTokens(session, filter, slice));
  const all = lists.flat();
  const details = await readTokenDetails(session, all, { collectionId: null, parts, now });
  const contractIds = all.map(({ contractId }) => contractId);
  const names = await readCollectionNames(session, contractIds);
  const detailsByToken = new Map(details.map((token) => [nameOf(token.row), token]));
  return lists.map((list) =>
    list.map((held) => {
      const token = detailsByToken.get(nameOf(held));
      const collection = names.get(held.contractId);
      if (token === undefined || collection === undefined)
        throw new Error(`token ${held.tokenId} of contract ${held.contractId} was not read`);
      return { ...token, held, collection };
    }),
  );
}

const nameOf = (token: WalletTokenCursor): string => `${nameOfToken(token)}/${token.standard}`;
