import type { z } from "zod";
import type { Token } from "../v1/collections/token.ts";
import type { Bid } from "../v1/orders/bids.ts";
import type { Listing } from "../v1/orders/listings.ts";
import type { Sale } from "../v1/sales.ts";
import { amountText, usdText } from "./words.ts";

type TokenView = Pick<
  z.output<typeof Token>,
  "contract" | "tokenId" | "name" | "rarity" | "listing" | "urls"
>;

/** A token in a list, with its cheapest listing. */
export function presentHeldToken({ contract, tokenId, name, rarity, listing, urls }: TokenView) {
  return {
    ...{ name, tokenId, contract },
    ...(rarity !== null && { rarityRank: rarity.rank }),
    ...(listing !== null && { listing: presentAsk(listing) }),
    url: urls.token,
  };
}

type Ask = NonNullable<z.output<typeof Token>["listing"]>;

export function presentAsk(listing: Ask) {
  return {
    price: amountText(listing.priceWei, listing.currency),
    usd: usdText(listing.usd),
    marketplace: listing.marketplace,
    seller: listing.maker,
    units: listing.quantityFillableExact,
    askId: listing.askId,
    buyableHere: listing.buyableViaApi,
    expires: listing.expiresAt,
  };
}

type BestBid = NonNullable<z.output<typeof Token>["bestOffer"]>;

export function presentBestOffer(bid: BestBid) {
  return {
    price: amountText(bid.priceWei, bid.currency),
    sellerGets: amountText(bid.sellerNetWei, bid.currency),
    for: bid.kind,
    bidder: bid.maker,
    bidId: bid.bidId,
    expires: bid.expiresAt,
  };
}

type Trade = Pick<
  z.output<typeof Sale>,
  | "priceWei"
  | "totalWei"
  | "currency"
  | "usd"
  | "quantityExact"
  | "seller"
  | "buyer"
  | "washTrade"
  | "marketplace"
  | "txHash"
  | "timestamp"
>;

/** A sale of a token: `price` is per unit, `total` of all its units. */
export function presentTradeOf(trade: Trade) {
  const { priceWei, totalWei, currency, usd, quantityExact } = trade;
  return {
    time: trade.timestamp,
    price: amountText(priceWei, currency),
    ...(quantityExact !== "1" && {
      units: quantityExact,
      total: amountText(totalWei, currency),
    }),
    usd: usdText(usd),
    seller: trade.seller,
    buyer: trade.buyer,
    marketplace: trade.marketplace,
    ...(trade.washTrade !== null && { looksLikeWashTrade: trade.washTrade.rule }),
    txHash: trade.txHash,
  };
}

export function presentSoldToken(sale: z.output<typeof Sale>) {
  const { collection, contract, tokenId, urls } = sale;
  return {
    ...{ collection: collection.name ?? contract, contract, tokenId },
    ...presentTradeOf(sale),
    url: urls.sale,
  };
}

/** A listing or a bid of a wallet. */
export function presentOwnOrder(order: z.output<typeof Listing> | z.output<typeof Bid>) {
  const { collection, contract, tokenId, priceWei, currency, status, expiresAt } = order;
  const isListing = "askId" in order;
  return {
    ...(isListing
      ? { askId: order.askId, marketplace: order.marketplace }
      : { bidId: order.bidId }),
    ...{ collection: collection.name ?? contract, contract, tokenId },
    price: amountText(priceWei, currency),
    units: order.quantityRemainingExact,
    ...{ status, expires: expiresAt },
    url: isListing ? order.urls.listing : order.urls.bid,
  };
}
