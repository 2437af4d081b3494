import type { Hex } from "viem";
import { type ListingMarketplace, listingMarketplaces } from "#projections/domain/marketplaces.ts";
import { partners } from "#projections/domain/partners.ts";

/** `askId` or `bidId` of a native order. */
export function orderId(prefix: string, orderHash: Hex): string {
  return `${prefix}-${orderHash}`;
}

/** The order hash in a native id, or null. Case-insensitive hash. */
export function orderHashOf(prefix: string, id: string): Hex | null {
  return id.startsWith(`${prefix}-`) ? hashOf(id.slice(prefix.length + 1)) : null;
}

/** A listing and its marketplace: the same order under another marketplace's id is not found. */
export type ListingName = { marketplace: ListingMarketplace; orderHash: Hex };

export function listingId(prefix: string, { marketplace, orderHash }: ListingName): string {
  if (marketplace === "native") return orderId(prefix, orderHash);
  return partners[marketplace].askIdForm === "hash" ? orderHash : orderId(marketplace, orderHash);
}

/** The listing that an id of any marketplace names, or null. Case-insensitive hash. */
export function listingOf(prefix: string, id: string): ListingName | null {
  for (const marketplace of listingMarketplaces) {
    const orderHash = listingHashOf(prefix, marketplace, id);
    if (orderHash !== null) return { marketplace, orderHash };
  }
  return null;
}

function listingHashOf(prefix: string, marketplace: ListingMarketplace, id: string): Hex | null {
  if (marketplace === "native") return orderHashOf(prefix, id);
  return partners[marketplace].askIdForm === "hash" ? hashOf(id) : orderHashOf(marketplace, id);
}

function hashOf(text: string): Hex | null {
  const hash = text.toLowerCase();
  return /^0x[0-9a-f]{64}$/.test(hash) ? (hash as Hex) : null;
}
