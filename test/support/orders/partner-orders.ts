import type { Hex } from "viem";
import { wrappedNative } from "#chains/index.ts";
import type { PartnerName } from "#projections/domain/partners.ts";
import type { OrderComponents } from "#projections/domain/seaport/order-components.ts";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
import type { Observation } from "#projections/log/append.ts";
import { orderSubmitted } from "#projections/orders/read-signed-orders.ts";
import {
  type PartnerListing,
  partnerListingSeen,
  partnerListingWithdrawn,
} from "#projections/partners/partner-listing.ts";
import { type GivenOrder, givenListing, receivedAt } from "./order-facts.ts";

export const partnerSignature: Hex = `0x${"22".repeat(64)}`;
export const zeroConduit: Hex = `0x${"00".repeat(32)}`;

type PartnerTerms = Parameters<typeof givenListing>[0] & {
  /** Priced in the wrapped native currency. */
  isWrapped?: boolean;
  conduitKey?: Hex;
  orderType?: OrderComponents["orderType"];
};

/** An order of the kinds that partners have: in another currency, with another conduit or zone. */
export function givenPartnerOrder(terms: PartnerTerms): GivenOrder {
  const order = givenListing(terms);
  const { conduitKey = order.components.conduitKey, isWrapped = false } = terms;
  const { orderType = order.components.orderType } = terms;
  const consideration = order.components.consideration.map((leg) =>
    isWrapped ? { ...leg, itemType: 1 as const, token: wrappedNative[order.chainId] } : leg,
  );
  const components = { ...order.components, conduitKey, orderType, consideration };
  const changed = { ...order, components, orderHash: orderHash(components) };
  const at = dateOf(terms.receivedAt ?? receivedAt);
  return {
    ...changed,
    submitted: orderSubmitted({ ...changed, signature: partnerSignature, receivedAt: at }),
  };
}

/** An order as a partner lists it; without a signature where the partner returns that with fulfillment data only. */
export function partnerListingOf(
  marketplace: PartnerName,
  order: GivenOrder,
  signature: Hex | null = marketplace === "opensea" ? null : partnerSignature,
): PartnerListing {
  const { chainId, components, terms, orderHash } = order;
  const { contract, standard, tokenId, quantity, unitPriceWei, sellerNetWei, fees } = terms;
  const [leg] = components.consideration;
  const currency = leg?.itemType === 1 ? wrappedNative[chainId] : null;
  return {
    ...{ marketplace, chainId, orderHash, components, signature, contract, standard, quantity },
    ...{ tokenId: tokenId ?? 0n, currency, unitPriceWei, sellerNetWei, fees },
  };
}

type ListingSeen = { generation?: number; at?: bigint };

export function seen(
  listing: PartnerListing,
  { generation = 0, at = receivedAt }: ListingSeen = {},
): Observation {
  return partnerListingSeen(listing, { generation, seenAt: dateOf(at) });
}

export function withdrawn(
  listing: PartnerListing,
  { generation = 0, at = receivedAt }: ListingSeen = {},
): Observation {
  return partnerListingWithdrawn(listing, { generation, seenAt: dateOf(at), reason: "gone" });
}

const dateOf = (unixSeconds: bigint) => new Date(Number(unixSeconds) * 1000);
