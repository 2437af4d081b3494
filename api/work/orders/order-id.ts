import type { Hex } from "viem";
import {
  type ListingMarketplace,
  marketplaces,
} from "../../../projections/listings/marketplaces.ts";

/** `askId` or `bidId` of an order of the market's own book. */
export function orderId(prefix: string, orderHash: Hex): string {
  return `${prefix}-${orderHash}`;
}

/** The order that an id names, or null: it is no id of this market's. The hash may stand in any case. */
export function orderHashOf(prefix: string, id: string): Hex | null {
  return id.startsWith(`${prefix}-`) ? hashOf(id.slice(prefix.length + 1)) : null;
}

/** A listing by where it is told of: the same order under another marketplace's id is not found. */
export type ListingName = { marketplace: ListingMarketplace; orderHash: Hex };

export function listingId(prefix: string, { marketplace, orderHash }: ListingName): string {
  if (marketplace === "opensea") return orderHash;
  return orderId(marketplace === "native" ? prefix : marketplace, orderHash);
}

/** The listing that an id names, or null: it is no marketplace's. The hash may stand in any case. */
export function listingOf(prefix: string, id: string): ListingName | null {
  const named = {
    native: orderHashOf(prefix, id),
    opensea: hashOf(id),
    magiceden: orderHashOf("magiceden", id),
  };
  for (const marketplace of marketplaces) {
    const orderHash = named[marketplace];
    if (orderHash !== null) return { marketplace, orderHash };
  }
  return null;
}

function hashOf(text: string): Hex | null {
  const hash = text.toLowerCase();
  return /^0x[0-9a-f]{64}$/.test(hash) ? (hash as Hex) : null;
}
