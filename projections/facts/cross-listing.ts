import { type Address, concatHex, type Hex, keccak256, stringToHex, toHex } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { PartnerName } from "../domain/marketplaces.ts";
import type { OrderComponents } from "../domain/seaport/order-components.ts";
import { type Observation, serializeBigints } from "../log/append.ts";

/** A cross-listing: the listing it belongs to, and the order signed for the partner. */
export type CrossListingKey = {
  marketplace: PartnerName;
  chainId: ChainId;
  contract: Address;
  /** Of our own listing. */
  orderHash: Hex;
  /** Of the order signed for the partner. */
  partnerOrderHash: Hex;
};

export type SubmittedCrossListing = CrossListingKey & {
  components: OrderComponents;
  signature: Hex;
  receivedAt: Date;
};

/** The fact that a maker submitted a cross-listing. Repeated submissions are one fact. */
export function crossListingSubmitted(crossListing: SubmittedCrossListing): Observation {
  const { marketplace, chainId, contract, orderHash, partnerOrderHash, components, signature } =
    crossListing;
  const [item] = components.offer;
  return {
    kind: "cross_listing_submitted",
    chainId,
    contract,
    orderHash,
    identity: identityOf("twin_submitted", crossListing),
    recordedAt: crossListing.receivedAt,
    fromAddress: components.offerer,
    ...(item && { tokenId: item.identifierOrCriteria, amount: item.startAmount }),
    payload: serializeBigints({
      marketplace,
      protocol: "seaport-1.6",
      twinHash: partnerOrderHash,
      components,
      signature,
    }),
  };
}

export type CrossListingAnswer =
  | { status: "posted" }
  | { status: "rejected"; code: "partner_rejected"; message: string };

/** The fact of a partner's answer to a cross-listing. Only the first one is recorded. */
export function crossListingAnswered(
  crossListing: CrossListingKey,
  answer: CrossListingAnswer,
  answeredAt: Date,
): Observation {
  const { marketplace, chainId, contract, orderHash, partnerOrderHash } = crossListing;
  const { code, message } = answer.status === "posted" ? { code: null, message: null } : answer;
  return {
    kind: "cross_listing_answered",
    chainId,
    contract,
    orderHash,
    identity: identityOf("twin_answered", crossListing),
    recordedAt: answeredAt,
    payload: { marketplace, twinHash: partnerOrderHash, status: answer.status, code, message },
  };
}

/** Identities are stored: they keep the names that the kinds had first. */
function identityOf(
  name: "twin_submitted" | "twin_answered",
  { marketplace, chainId, orderHash, partnerOrderHash }: CrossListingKey,
): Hex {
  const parts = [stringToHex(`${name} ${marketplace}`), toHex(chainId, { size: 4 })];
  return keccak256(concatHex([...parts, orderHash, partnerOrderHash]));
}
