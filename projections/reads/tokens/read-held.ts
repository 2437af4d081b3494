import type { Database } from "../../database.ts";
import { nameOfToken } from "../../sql/token-place.ts";
import { type CollectionName, readCollectionNames } from "../collections/read-references.ts";
import type { HeldToken } from "../ownership/read-wallet.ts";
import { type HeldKey, readWalletTokens, type WalletFilter } from "../ownership/read-wallet.ts";
import { readTokenDetails, type TokenDetails } from "./read-details.ts";

/** A token that a wallet holds units of, with what there is to tell of it. */
export type HeldDetails = TokenDetails & { held: HeldToken; collection: CollectionName };

/** Tokens that wallets hold, of one moment: of each wallet the first after a place. */
export async function readHeld(
  db: Database,
  filters: readonly WalletFilter[],
  slice: { limit: number; after: HeldKey | null },
  now: Date,
): Promise<HeldDetails[][]> {
  return await db
    .transaction()
    .setIsolationLevel("repeatable read")
    .setAccessMode("read only")
    .execute(async (session) => {
      const lists: HeldToken[][] = [];
      for (const filter of filters) lists.push(await readWalletTokens(session, filter, slice));
      const all = lists.flat();
      const details = await readTokenDetails(session, null, all, now);
      const names = await readCollectionNames(
        session,
        all.map(({ contractId }) => contractId),
      );
      const told = new Map(details.map((token) => [nameOf(token.row), token]));
      return lists.map((list) =>
        list.map((held) => {
          const [token, collection] = [told.get(nameOf(held)), names.get(held.contractId)];
          if (token === undefined || collection === undefined)
            throw new Error(`token ${held.tokenId} of contract ${held.contractId} was not read`);
          return { ...token, held, collection };
        }),
      );
    });
}

const nameOf = (token: HeldKey): string => `${nameOfToken(token)}/${token.standard}`;
