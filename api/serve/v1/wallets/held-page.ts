import { z } from "zod";
import type { WalletFilter, WalletTokenCursor, WalletTokenDetails } from "#projections/tokens/read-wallet-tokens.ts";
import { type CursorScope, cursorInteger } from "#api/http/page.ts";

/** Shared by the batch endpoint, whose cursors continue in the wallet's own list. */
export function walletScope({ chainId, wallet, contractIds }: WalletFilter): CursorScope {
  return { list: "wallet tokens", chainId, wallet, contractIds: contractIds?.join() ?? null };
}

/** Digits are those of the columns: integer, numeric(78,0). */
export const heldKey = z.tuple([cursorInteger(9), cursorInteger(78), cursorInteger(4)]).transform(
  ([contractId, tokenId, standard]): WalletTokenCursor => ({
    contractId: Number(contractId),
    tokenId,
    standard: standard === 721n ? 721 : 1155,
  }),
);

export function keyOfHeld({ held: { contractId, tokenId, standard } }: WalletTokenDetails) {
  return [contractId, tokenId, standard];
}
