import { z } from "zod";
import {
  cursorInteger,
  cutPage,
  pageFields,
  pageMeta,
  pageOf,
  pageRefusals,
  rowFields,
  withFields,
} from "#api/http/page.ts";
import type { ChainId } from "#chains/index.ts";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import { readBids } from "#projections/orders/read-bids.ts";
import {
  maxTokensWithBids,
  readWalletOffers,
  type TokenOffer,
  type WalletOfferCursor,
} from "#projections/tokens/read-wallet-offers.ts";
import { detailWalletTokens } from "#projections/tokens/read-wallet-tokens.ts";
import { route } from "../context.ts";
import type { MediaLinks } from "../media-links.ts";
import { chainId, chainRefusals, collectionKey, wallet } from "../parameters.ts";
import { HeldToken, presentHeld, walletFilterOf, walletScope } from "../wallet-tokens.ts";
import { currency, exactUnits, uint256Text } from "../wire.ts";
import { Bid, presentBid } from "./bids.ts";
import { type ListingViewContext, listingViewOf } from "./sides.ts";

/** A token that a wallet holds, and the bid of another that nets it most. */
export const WalletOffer = z
  .object({
    token: HeldToken,
    bid: Bid,
    kind: Bid.shape.kind,
    currency,
    sellerNetWei: uint256Text.meta({
      description: "What the seller receives per unit, after fee and royalty.",
    }),
    sellableUnits: z.int().min(1).meta({
      description: "Most units of those held that the bid takes; a bid on one token takes all.",
    }),
    sellableUnitsExact: exactUnits,
  })
  .meta({ id: "WalletOffer" });
type OfferView = z.output<typeof WalletOffer>;

/** Codes of every list of offers to a wallet, beside those of its paging. */
export const walletOfferRefusals = { not_found: 404, too_many_tokens: 422 } as const;

export const rejectManyTokens = () =>
  reject(
    "too_many_tokens",
    `The wallet holds more than ${maxTokensWithBids} tokens of contracts with bids: name a collection`,
  );

type ViewContext = ListingViewContext & { chainId: ChainId; media: MediaLinks };

/** The offers with their tokens and bids, all of one snapshot. */
export async function viewWalletOffers(
  db: Database,
  offers: readonly TokenOffer[],
  { now, ...context }: ViewContext & { now: Date },
): Promise<OfferView[]> {
  const tokens = await detailWalletTokens(
    db,
    offers.map(({ held }) => held),
    now,
  );
  const hashes = offers.map(({ orderHash }) => orderHash);
  const bids = await readBids(db, context.chainId, [...new Set(hashes)], now);
  const bidOf = new Map(bids.map((bid) => [bid.orderHash, bid]));
  return offers.map(({ orderHash, sellerNetWei, sellableUnits }, index) => {
    const [token, row] = [tokens[index], bidOf.get(orderHash)];
    if (token === undefined || row === undefined)
      throw new Error(`bid ${orderHash} was not read with its token`);
    const bid = presentBid(row, context);
    return {
      token: presentHeld(token, context),
      bid,
      kind: bid.kind,
      currency: bid.currency,
      sellerNetWei: String(sellerNetWei),
      sellableUnits: Number(sellableUnits),
      sellableUnitsExact: String(sellableUnits),
    };
  });
}

export const walletOffers = route(
  {
    method: "get",
    path: "/v1/wallets/{wallet}/offers",
    operationId: "listWalletOffers",
    tag: "Wallets",
    loadClass: "lists",
    summary:
      "What a wallet could sell into now: each of its tokens with the best bid of others for it, best net first",
    params: z.object({ wallet }),
    query: z.object({
      chainId,
      collection: collectionKey.optional(),
      fields: rowFields(WalletOffer),
      ...pageFields,
    }),
    data: z.array(WalletOffer),
    meta: pageMeta,
    refuses: { ...walletOfferRefusals, ...chainRefusals, ...pageRefusals },
    isCacheable: true,
  },
  async ({ params: { wallet }, query }, { db, siteUrl, media, market, now }) => {
    const { chainId, collection } = query;
    const filter = await walletFilterOf(db, { chainId, wallet, collection });
    if (isRejection(filter)) return filter;
    const request = pageOf(query, walletScope(filter, walletOffersList), walletOfferKey);
    if (isRejection(request)) return request;
    const at = now();
    const page = await readWalletOffers(db, filter, request.read, at);
    if (page === null) return rejectManyTokens();
    const { shown, meta } = cutPage(request, page.rows, keyOfWalletOffer);
    const view = { ...(await listingViewOf({ siteUrl, market })), chainId, media, now: at };
    return {
      data: withFields(await viewWalletOffers(db, shown, view), query.fields),
      meta: { chainId, total: Number(page.total), ...meta },
    };
  },
);

/** The list that cursors of offers to a wallet continue. */
export const walletOffersList = "wallet offers";

/** Digits are those of the columns: numeric(78,0), integer, numeric(78,0). */
export const walletOfferKey = z
  .tuple([cursorInteger(78), cursorInteger(9), cursorInteger(78), cursorInteger(4)])
  .transform(
    ([sellerNetWei, contractId, tokenId, standard]): WalletOfferCursor => ({
      sellerNetWei,
      contractId: Number(contractId),
      tokenId,
      standard: standard === 721n ? 721 : 1155,
    }),
  );

export const keyOfWalletOffer = ({
  sellerNetWei,
  held: { contractId, tokenId, standard },
}: TokenOffer) => [sellerNetWei, contractId, tokenId, standard];
