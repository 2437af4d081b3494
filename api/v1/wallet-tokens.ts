import type { Address } from "viem";
import { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import { isRejection, type Rejection } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import {
  readWalletTokenDetails,
  type WalletFilter,
  type WalletTokenCursor,
  type WalletTokenDetails,
} from "#projections/tokens/read-wallet-tokens.ts";
import {
  type CursorScope,
  cursorInteger,
  cursorPageOf,
  cursorRefusals,
  cutPage,
  pageFields,
  rowFields,
  uncountedMeta,
  withFields,
} from "../http/page.ts";
import { contractsOfQuery } from "./collection-reference.ts";
import { presentToken, Token, tokenPartsOf } from "./collections/token.ts";
import { route } from "./context.ts";
import type { MediaLinks } from "./media-links.ts";
import { type ListingViewContext, listingViewOf } from "./orders/book-order.ts";
import { chainId, chainRefusals, collectionKey, wallet } from "./parameters.ts";
import { uint256Text } from "./wire.ts";

/** A token that a wallet holds. */
export const HeldToken = Token.extend({
  units: uint256Text.meta({ description: "Units that the wallet holds; 1 of an ERC-721 token." }),
}).meta({ id: "HeldToken" });

export function presentHeld(
  { held, collection, ...token }: WalletTokenDetails,
  { chainId, media, ...view }: ListingViewContext & { chainId: ChainId; media: MediaLinks },
): z.output<typeof HeldToken> {
  const named = {
    collection,
    chainId,
    view,
    media: { ...media, isList: true },
  };
  return { ...presentToken(token, named), units: String(held.units) };
}

const { per_page, cursor } = pageFields;
const fields = rowFields(HeldToken);

export const walletTokens = route(
  {
    method: "get",
    path: "/v1/wallets/{wallet}/tokens",
    operationId: "listWalletTokens",
    tag: "Wallets",
    loadClass: "lists",
    summary: "Tokens that a wallet holds, of both standards, by contract and id",
    params: z.object({ wallet }),
    query: z.object({ chainId, collection: collectionKey.optional(), fields, cursor, per_page }),
    data: z.array(HeldToken),
    meta: uncountedMeta,
    refuses: { not_found: 404, ...chainRefusals, ...cursorRefusals },
    isCacheable: true,
  },
  async ({ params: { wallet }, query }, { db, siteUrl, media, market, now }) => {
    const { chainId, collection } = query;
    const filter = await walletFilterOf(db, { chainId, wallet, collection });
    if (isRejection(filter)) return filter;
    const request = cursorPageOf(query, walletScope(filter), heldKey);
    if (isRejection(request)) return request;
    const parts = tokenPartsOf(query.fields);
    const view = { ...(await listingViewOf({ siteUrl, market })), chainId, media };
    const [rows = []] = await readWalletTokenDetails(db, [filter], request.read, now(), parts);
    const { shown, meta } = cutPage(request, rows, keyOfHeld);
    return {
      data: withFields(
        shown.map((row) => presentHeld(row, view)),
        query.fields,
      ),
      meta: { chainId, per_page: meta.per_page, next_cursor: meta.next_cursor },
    };
  },
);

type WalletQuery = { chainId: ChainId; wallet: Address; collection?: string | undefined };

/** What a query of a wallet's lists selects. */
export async function walletFilterOf(
  db: Database,
  { chainId, wallet, collection }: WalletQuery,
): Promise<WalletFilter | Rejection<"not_found">> {
  const contractIds = await contractsOfQuery(db, { chainId, collection });
  return isRejection(contractIds) ? contractIds : { chainId, wallet, contractIds };
}

/** Shared by the batch endpoint, whose cursors continue in the wallet's own list. */
export function walletScope(
  { chainId, wallet, contractIds }: WalletFilter,
  list = "wallet tokens",
): CursorScope {
  return { list, chainId, wallet, contractIds: contractIds?.join() ?? null };
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
