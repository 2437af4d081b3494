import type { Address, Hex } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { PartnerName } from "#projections/domain/partners.ts";
import type { Rejection } from "#projections/domain/rejection.ts";
import type { OrderComponents } from "#projections/domain/seaport/order-components.ts";
import type { PartnerListing } from "#projections/partners/partner-listing.ts";
import { OutsideFailure } from "../runner/job.ts";

/**
 * The partner timed out, returned an error or an invalid response, or its circuit breaker is open; or our own budget of
 * requests to it is used up.
 */
export type PartnerFailure = Rejection<"upstream_error" | "partner_rate_limited">;

export const isPartnerFailure = (rejection: Rejection): rejection is PartnerFailure =>
  rejection.rejected === "upstream_error" || rejection.rejected === "partner_rate_limited";

/** What a job of a partner that does not answer fails by. */
export class PartnerFailed extends OutsideFailure {
  constructor({ message }: Rejection) {
    super(message);
  }
}

/** An entry of a response that was not recorded. */
export type SkippedEntry = {
  readonly path: string;
  readonly reason: string;
  /** Hash of the listing that it still shows; `any`: unknown; `none`: it reports an ended listing. */
  readonly concerns: Hex | "any" | "none";
};

/** A page of a partner's listings; `cursor` continues after it, null on the last page. */
export type ListingPage = {
  readonly listings: readonly PartnerListing[];
  readonly cursor: string | null;
  readonly skipped: readonly SkippedEntry[];
};

/** A collection at a partner, with its fees as shares of a price. */
export type PartnerCollection = {
  readonly slug: string;
  readonly contracts: readonly Address[];
  readonly fees: readonly {
    readonly recipient: Address;
    readonly bps: number;
    readonly isRequired: boolean;
    /** Whether it is the partner's own fee. */
    readonly isService: boolean;
  }[];
};

/** What identifies a collection to a partner. */
export type CollectionQuery = {
  readonly contract: Address;
  /** The partner's slug, if it has one. */
  readonly slug: string | null;
  /** Known royalty recipients. */
  readonly creators: readonly Address[];
};

/** Fulfillment data of an order for one buyer. The components hash to the order's hash. */
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
  /** End of the zone's authorization for the buyer; null without one. */
  readonly validUntil: Date | null;
};

export type FulfillmentRequest = {
  readonly orderHash: Hex;
  /** From the recorded components: partners omit it from fulfillment data, and the hash needs it. */
  readonly counter: bigint;
  readonly buyer: Address;
  /** Null: all remaining units. */
  readonly units: bigint | null;
  /** As of a request. */
  readonly caller?: string;
};

/** An order announced by a stream event. The event's data is not trusted: the order is fetched. */
export type StreamedOrder = {
  readonly chainId: ChainId;
  readonly orderHash: Hex;
  /** True: a new listing; false: a change of an order. */
  readonly isNew: boolean;
};

/** Receives stream events. Collections are identified by the watched slugs. */
export type StreamListener = {
  onOrder(slug: string, order: StreamedOrder): void;
  /** A message that does not parse. */
  onSkipped(skipped: SkippedEntry): void;
  /** Events of this collection may have been lost. */
  onMissed(slug: string): void;
};

export type StreamConnection = {
  /** Replaces the set of watched collections. */
  watch(slugs: ReadonlySet<string>): void;
  /** Resolves when the connection has ended, for whatever reason. */
  readonly ended: Promise<void>;
  close(): void;
};

/** A partner's push events about listings. Delivery is best effort. */
export type PartnerStream = {
  connect(
    listener: StreamListener,
  ): Promise<StreamConnection | Rejection<"key_refused"> | PartnerFailure>;
  /** An announced listing, in the form of a page's entry. Null: the partner does not show it. */
  fetchStreamed(
    order: StreamedOrder,
    creators: readonly Address[],
  ): Promise<PartnerListing | SkippedEntry | null | PartnerFailure>;
};

/** One partner marketplace. Responses are parsed; no response makes a method throw. */
export type Partner = {
  readonly name: PartnerName;
  readonly chainIds: readonly ChainId[];
  /** Absent where collections are queried by contract and fees are not published. */
  readonly fetchCollection?: (
    chainId: ChainId,
    contract: Address,
    /** As of a request. */
    caller?: string,
  ) => Promise<PartnerCollection | Rejection<"not_found"> | PartnerFailure>;
  /** A page of a collection's listings; a null cursor starts. `newest`: latest first. */
  fetchListings(
    chainId: ChainId,
    collection: CollectionQuery,
    page: { readonly order: "any" | "newest"; readonly cursor: string | null },
  ): Promise<ListingPage | Rejection<"invalid_cursor" | "not_found"> | PartnerFailure>;
  /** Null: the partner does not show it. */
  fetchListing(chainId: ChainId, orderHash: Hex): Promise<PartnerListing | null | PartnerFailure>;
  /** Data that lets only `buyer` fill a listing for a short time. Absent where orders need no such data. */
  readonly fetchFulfillment?: (
    chainId: ChainId,
    request: FulfillmentRequest,
  ) => Promise<
    Fulfillment | Rejection<"unavailable" | "unsupported_order" | "order_mismatch"> | PartnerFailure
  >;
  /** Posts a listing that its maker signed for the partner. Absent where the partner accepts none. */
  readonly postListing?: (
    chainId: ChainId,
    order: { readonly components: OrderComponents; readonly signature: Hex },
  ) => Promise<{ readonly orderHash: Hex } | Rejection<"partner_rejected"> | PartnerFailure>;
  /** Absent where the partner has none or none is configured. */
  readonly stream?: PartnerStream;
  /** Aborts requests in flight. */
  close(): Promise<void>;
};
