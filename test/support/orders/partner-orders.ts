import type { Hex } from "viem";
import { wrappedNative } from "../../../abis/deployments.ts";
import type { PartnerName } from "../../../projections/domain/partners.ts";
import type { OrderComponents } from "../../../projections/domain/seaport/order-components.ts";
import { orderHash } from "../../../projections/domain/seaport/order-hash.ts";
import {
  type PartnerListing,
  partnerListingSeen,
  partnerListingWithdrawn,
} from "../../../projections/facts/partner-listing.ts";
import { orderSubmitted } from "../../../projections/facts/submitted-order.ts";
import type { Observation } from "../../../projections/log/append.ts";
import { type GivenOrder, givenListing, receivedAt } from "./order-facts.ts";

export const partnerSignature: Hex = `0x${"22".repeat(64)}`;
export const zeroConduit: Hex = `0x${"00".repeat(32)}`;

type PartnerTerms = Parameters<typeof givenListing>[0] & {
  /** Priced in the wrapped native currency. */
  isWrapped?: boolean;
  conduitKey?: Hex;
  orderType?: OrderComponents["orderType"];
};

/** An order as partners have them: in another currency, through another conduit, behind a zone. */
export function givenPartnerOrder(terms: PartnerTerms): GivenOrder {
  const order = givenListing(terms);
  const { conduitKey = order.components.conduitKey, isWrapped = false } = terms;
  const { orderType = order.components.orderType } = terms;
  const consideration = order.components.consideration.map((leg) =>
    isWrapped ? { ...leg, itemType: 1 as const, token: wrappedNative[order.chainId] } : leg,
  );
  const components = { ...order.components, conduitKey, orderType, consideration };
  const told = { ...order, components, orderHash: orderHash(components) };
  const at = moment(terms.receivedAt ?? receivedAt);
  return {
    ...told,
    submitted: orderSubmitted({ ...told, signature: partnerSignature, receivedAt: at }),
  };
}

/** What a partner says of an order. Without a signature where it hands that out with its fulfilment data alone. */
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
  return partnerListingSeen(listing, { generation, seenAt: moment(at) });
}

export function withdrawn(
  listing: PartnerListing,
  { generation = 0, at = receivedAt }: ListingSeen = {},
): Observation {
  return partnerListingWithdrawn(listing, { generation, seenAt: moment(at), reason: "gone" });
}

const moment = (unixSeconds: bigint) => new Date(Number(unixSeconds) * 1000);
