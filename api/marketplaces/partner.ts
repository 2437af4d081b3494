import type { Address, Hex } from "viem";
import type { ChainId } from "../../abis/deployments.ts";
import type { Rejection } from "../../projections/domain/rejection.ts";
import type { OrderComponents } from "../../projections/domain/seaport/order-components.ts";
import type { PartnerListing, PartnerName } from "../../projections/orders/partner-listing.ts";

/** The partner did not answer in time, answered with a fault, or is not asked while it fails. */
export type PartnerFailure = Rejection<"upstream_error">;

/** A page of what a partner shows; `cursor` goes on from it, null: it is the last. */
export type ListingPage = {
  readonly listings: readonly PartnerListing[];
  readonly cursor: string | null;
  /** Entries that were left out, and why: for the log line and the counters. */
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
};

/** What a partner takes for itself and for creators, as shares of a price. */
export type PartnerCollection = {
  readonly slug: string;
  readonly contracts: readonly Address[];
  readonly fees: readonly {
    readonly recipient: Address;
    readonly bps: number;
    readonly isRequired: boolean;
    /** Whether it is the partner's own. */
    readonly isService: boolean;
  }[];
};

/** An order as its partner hands it to one buyer. */
export type Fulfillment = {
  readonly to: Address;
  readonly value: bigint;
  readonly components: OrderComponents;
  readonly signature: Hex;
  readonly extraData: Hex;
  readonly numerator: bigint;
  readonly denominator: bigint;
  readonly fulfillerConduitKey: Hex;
  /** When the zone's word for the buyer ends; null: it has none. */
  readonly validUntil: Date | null;
};

/** One partner marketplace. Answers are parsed; nothing that a partner sends makes these throw. */
export type Partner = {
  readonly name: PartnerName;
  readonly chainIds: readonly ChainId[];
  fetchCollection(
    chainId: ChainId,
    contract: Address,
  ): Promise<PartnerCollection | Rejection<"not_found"> | PartnerFailure>;
  /** Listings of a collection from a cursor on; null begins. */
  fetchListings(
    chainId: ChainId,
    collection: { readonly contract: Address; readonly slug: string },
    cursor: string | null,
  ): Promise<ListingPage | PartnerFailure>;
  /** Null: the partner does not show it, or no longer. */
  fetchListing(chainId: ChainId, orderHash: Hex): Promise<PartnerListing | null | PartnerFailure>;
  /** What lets `buyer`, and nobody else, fill a listing for a short time. Absent where orders are filled as they are. */
  readonly fetchFulfillment?: (
    chainId: ChainId,
    asked: { readonly orderHash: Hex; readonly buyer: Address; readonly units: bigint | null },
  ) => Promise<Fulfillment | Rejection<"unavailable" | "unsupported_order"> | PartnerFailure>;
  /** Posts a listing that its maker signed for the partner. Absent where the partner takes none. */
  readonly postListing?: (
    chainId: ChainId,
    order: { readonly components: OrderComponents; readonly signature: Hex },
  ) => Promise<{ readonly orderHash: Hex } | Rejection<"partner_rejected"> | PartnerFailure>;
};
