import { z } from "zod";
import { bidReasons } from "#projections/domain/orders/order-status.ts";
import type { BidRow } from "#projections/orders/read-bids.ts";
import type { TokenBidRow } from "#projections/tokens/read-token-details.ts";
import { orderId } from "#api/orders/order-id.ts";
import { bidUrls, presentBidUrl, presentCollectionUrls, presentMakerUrl, presentTokenUrls } from "../urls.ts";
import { uint256Text } from "../wire.ts";
import { bookOrderFields, type OrderViewContext, presentBookOrder, presentPrice } from "./book-order.ts";

export const bidKind = z.enum(["single-token", "collection"]);

/** An amount of wrapped native currency for units of one token, or of any tokens of a contract. */
export const Bid = z
  .object({
    bidId: z.string(),
    kind: bidKind,
    ...bookOrderFields,
    tokenId: uint256Text.nullable().meta({ description: "null: any token of the contract." }),
    amountWei: uint256Text.meta({ description: "What the bidder pays per unit: `priceWei`." }),
    sellerNetWei: uint256Text.meta({
      description: "What the seller receives per unit, after fee and royalty.",
    }),
    inactiveReason: z
      .enum(bidReasons)
      .nullable()
      .meta({ description: "Why an inactive bid cannot be filled." }),
    urls: bidUrls,
  })
  .meta({ id: "Bid" });

/** The bid with the highest net, as part of a token. */
export const TokenBid = Bid.pick({
  bidId: true,
  kind: true,
  maker: true,
  price: true,
  priceWei: true,
  sellerNetWei: true,
  currency: true,
  usd: true,
  quantityRemaining: true,
  quantityRemainingExact: true,
  expiresAt: true,
}).meta({ id: "TokenBid" });

export function presentBid(
  row: BidRow,
  { siteUrl, prefix }: OrderViewContext,
): z.output<typeof Bid> {
  const site = { siteUrl, chainId: row.chainId };
  const bidId = orderId(prefix, row.orderHash);
  const collection = row.collectionSlug ?? row.collectionAddress;
  return {
    bidId,
    kind: row.kind,
    tokenId: row.tokenId === null ? null : String(row.tokenId),
    amountWei: String(row.unitPriceWei),
    sellerNetWei: String(row.sellerNetWei),
    inactiveReason: row.reason,
    urls: {
      ...(row.tokenId === null
        ? presentCollectionUrls(site, collection)
        : presentTokenUrls(site, collection, row.contract, row.tokenId)),
      bid: presentBidUrl(site, bidId),
      maker: presentMakerUrl(site, row.maker),
    },
    ...presentBookOrder(row),
  };
}

export function presentTokenBid(
  row: TokenBidRow,
  { prefix }: OrderViewContext,
): z.output<typeof TokenBid> {
  return {
    bidId: orderId(prefix, row.orderHash),
    kind: row.kind,
    sellerNetWei: String(row.sellerNetWei),
    ...presentPrice(row),
  };
}
