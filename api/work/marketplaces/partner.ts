import type { Address, Hex } from "viem";
import type { ChainId } from "../../../abis/deployments.ts";
import type { Rejection } from "../../../projections/domain/rejection.ts";
import type { OrderComponents } from "../../../projections/domain/seaport/order-components.ts";
import type { PartnerListing, PartnerName } from "../../../projections/facts/partner-listing.ts";

/** The partner did not answer in time, answered with a fault, or is not asked while it fails. */
export type PartnerFailure = Rejection<"upstream_error">;

/** An entry that was left out. */
export type Skipped = {
  readonly path: string;
  readonly reason: string;
  /** The listing that is still shown by it; `any`: that cannot be told; `none`: it says that one is over. */
  readonly standsFor: Hex | "any" | "none";
};

/** A page of what a partner shows; `cursor` goes on from it, null: it is the last. */
export type ListingPage = {
  readonly listings: readonly PartnerListing[];
  readonly cursor: string | null;
  readonly skipped: readonly Skipped[];
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

/** A collection as its partner is asked for it. */
export type AskedCollection = {
  readonly contract: Address;
  /** The partner's name of it, where it has one. */
  readonly slug: string | null;
  /** Who is known to be paid royalties of it. */
  readonly creators: readonly Address[];
};

/** An order as its partner hands it to one buyer. The components are those that the order's hash is of. */
export type Fulfillment = {
  readonly to: Address;
  /** Wei. */
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

export type AskedFulfillment = {
  readonly orderHash: Hex;
  /** Of the recorded components: partners leave it out of what they hand over, and the hash needs it. */
  readonly counter: bigint;
  readonly buyer: Address;
  /** Null: all that are left. */
  readonly units: bigint | null;
};

/** An order that a stream tells of. Nothing that is told of it is believed: it is asked for. */
export type HeardOrder = {
  readonly chainId: ChainId;
  readonly orderHash: Hex;
  /** A listing that begins; else something that changed of an order. */
  readonly isNew: boolean;
};

/** Who listens to a stream. Collections go by the slugs that are watched. */
export type Ear = {
  onHeard(slug: string, order: HeardOrder): void;
  /** A message that cannot be read. */
  onSkipped(skipped: Skipped): void;
  /** Of this collection something may have been missed. */
  onMissed(slug: string): void;
};

export type StreamConnection = {
  /** Listens to exactly these collections from here on. */
  watch(slugs: ReadonlySet<string>): void;
  /** Settles once it has ended, whatever ended it. */
  readonly ended: Promise<void>;
  close(): void;
};

/** What a partner tells by itself of listings: at best soon, at worst never. */
export type PartnerStream = {
  connect(ear: Ear): Promise<StreamConnection | Rejection<"key_refused"> | PartnerFailure>;
  /** A listing that was heard of, as a page would show it. Null: the partner does not show it, or no longer. */
  fetchHeard(
    order: HeardOrder,
    creators: readonly Address[],
  ): Promise<PartnerListing | Skipped | null | PartnerFailure>;
};

/** One partner marketplace. Answers are parsed; nothing that a partner sends makes these throw. */
export type Partner = {
  readonly name: PartnerName;
  readonly chainIds: readonly ChainId[];
  /** Absent where collections are asked for by contract and their fees are not told. */
  readonly fetchCollection?: (
    chainId: ChainId,
    contract: Address,
  ) => Promise<PartnerCollection | Rejection<"not_found"> | PartnerFailure>;
  /** Listings of a collection from a cursor on; null begins. In `newest` order what came last is first. */
  fetchListings(
    chainId: ChainId,
    collection: AskedCollection,
    page: { readonly order: "any" | "newest"; readonly cursor: string | null },
  ): Promise<ListingPage | Rejection<"invalid_cursor" | "not_found"> | PartnerFailure>;
  /** Null: the partner does not show it, or no longer. */
  fetchListing(chainId: ChainId, orderHash: Hex): Promise<PartnerListing | null | PartnerFailure>;
  /** What lets `buyer`, and nobody else, fill a listing for a short time. Absent where orders are filled as they are. */
  readonly fetchFulfillment?: (
    chainId: ChainId,
    asked: AskedFulfillment,
  ) => Promise<
    Fulfillment | Rejection<"unavailable" | "unsupported_order" | "order_mismatch"> | PartnerFailure
  >;
  /** Posts a listing that its maker signed for the partner. Absent where the partner takes none. */
  readonly postListing?: (
    chainId: ChainId,
    order: { readonly components: OrderComponents; readonly signature: Hex },
  ) => Promise<{ readonly orderHash: Hex } | Rejection<"partner_rejected"> | PartnerFailure>;
  /** Absent where the partner has none, or none is configured. */
  readonly stream?: PartnerStream;
  /** Ends what is under way. */
  close(): Promise<void>;
};
