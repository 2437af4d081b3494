import type { Address, Hex } from "viem";
import type { z } from "zod";
import { seaportAddresses } from "#abis/deployments.ts";
import type { ChainId } from "#chains/index.ts";
import { chainNameAt } from "#chains/partners.ts";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import type { PartnerListing } from "#projections/partners/partner-listing.ts";
import { isServiceRecipient, parsePartnerListing } from "../parse-listing.ts";
import type {
  CollectionQuery,
  Partner,
  PartnerCollection,
  PartnerFailure,
  SkippedEntry,
} from "../partner.ts";
import { firstIssue, parseEntries, parseResponse } from "../send-request.ts";
import type { Transport } from "../transport.ts";
import {
  CollectionResponse,
  ContractResponse,
  ListingEntry,
  ListingsResponse,
  OrderResponse,
  OrdersResponse,
  statedHash,
} from "./response-schemas.ts";

const pageSize = "200";
/** Maximum of the older endpoint. */
const ordersPageSize = "50";

type Page = ReturnType<Partner["fetchListings"]>;
type Context = {
  chainId: ChainId;
  contract: Address | null;
  creators: readonly Address[];
  now: Date;
};

/** All listings of a slug; those of other contracts are skipped. */
export async function fetchAll(
  transport: Transport,
  { chainId, slug, contract, creators }: CollectionQuery & { chainId: ChainId },
  cursor: string | null,
): Page {
  if (slug === null) return reject("not_found", `${contract} has no collection`);
  const response = await transport.send({
    method: "GET",
    path: `/api/v2/listings/collection/${encodeURIComponent(slug)}/all`,
    query: { limit: pageSize, ...(cursor === null ? {} : { next: cursor }) },
    budget: "read",
  });
  const page = parseResponse(response, ListingsResponse, [400, 404]);
  if (isRejection(page)) return page;
  if (page === null) return notFound(cursor);
  const context = { chainId, contract, creators, now: new Date() };
  return {
    cursor: page.next,
    ...parseEntries(page.listings, (entry) => parseOpenSeaEntry(entry, context)),
  };
}

/** Listings of a contract, latest first. The endpoint is undocumented by now: if it is gone, full passes find new ones. */
export async function fetchNewest(
  transport: Transport,
  { chainId, contract, creators }: CollectionQuery & { chainId: ChainId },
  cursor: string | null,
): Page {
  const response = await transport.send({
    method: "GET",
    path: `/api/v2/orders/${chainNameAt("opensea", chainId)}/seaport/listings`,
    query: {
      asset_contract_address: contract,
      order_by: "created_date",
      order_direction: "desc",
      limit: ordersPageSize,
      ...(cursor === null ? {} : { cursor }),
    },
    budget: "read",
  });
  const page = parseResponse(response, OrdersResponse, [400, 404, 405, 410]);
  if (isRejection(page)) return page;
  if (page === null) return cursor === null ? emptyPage : notFound(cursor);
  const context = { chainId, contract, creators, now: new Date() };
  return {
    cursor: page.next,
    ...parseEntries(page.orders, (entry) => parseOpenSeaEntry(entry, context)),
  };
}

const emptyPage = { listings: [], cursor: null, skipped: [] };

const notFound = (cursor: string | null) =>
  cursor === null
    ? reject("not_found", "OpenSea does not know the collection")
    : reject("invalid_cursor", "OpenSea no longer accepts the cursor");

/** One listing in the form of a list entry. Null: it is not shown. */
export async function fetchEntry(
  transport: Transport,
  { chainId, orderHash }: { chainId: ChainId; orderHash: Hex },
  creators: readonly Address[],
): Promise<PartnerListing | SkippedEntry | null | PartnerFailure> {
  const location = `chain/${chainNameAt("opensea", chainId)}/protocol/${seaportAddresses["1.6"]}/${orderHash}`;
  const path = `/api/v2/orders/${location}`;
  const response = await transport.send({ method: "GET", path, budget: "read" });
  const parsed = parseResponse(response, OrderResponse, [400, 404]);
  if (parsed === null || isRejection(parsed)) return parsed;
  const listing = parseOpenSeaEntry(parsed.order, {
    chainId,
    contract: null,
    creators,
    now: new Date(),
  });
  if ("reason" in listing || listing.orderHash === orderHash) return listing;
  return { reason: "wrong_order_hash", path: "order_hash", concerns: "any" };
}

export async function fetchOpenSeaListing(
  transport: Transport,
  chainId: ChainId,
  orderHash: Hex,
): Promise<PartnerListing | null | PartnerFailure> {
  const entry = await fetchEntry(transport, { chainId, orderHash }, []);
  return entry !== null && "reason" in entry ? null : entry;
}

/** Parses one entry of a list, in the newer or older format. Never throws. */
export function parseOpenSeaEntry(entry: unknown, context: Context): PartnerListing | SkippedEntry {
  const { chainId, contract, creators, now } = context;
  const parsed = ListingEntry.safeParse(entry);
  if (!parsed.success) {
    const { path } = firstIssue(parsed.error);
    return { reason: "malformed", path, concerns: statedHash(entry) ?? "any" };
  }
  const { data } = parsed;
  if (isInactive(data)) return { reason: "not_active", path: "status", concerns: "none" };
  const { order_hash: orderHash, protocol_data, protocol_address: exchange } = data;
  const skip = (reason: string, path: string) => ({
    reason,
    path,
    concerns: reason === "wrong_order_hash" ? ("any" as const) : orderHash,
  });
  if (data.chain !== undefined && data.chain !== chainNameAt("opensea", chainId)) {
    return skip("other_chain", "chain");
  }
  const { parameters: components, signature } = protocol_data;
  const listing = parsePartnerListing(
    { marketplace: "opensea", chainId, orderHash, exchange, components, signature },
    { creators, now },
  );
  if (typeof listing === "string") return skip(listing, "protocol_data");
  const isRequested = contract === null || listing.contract === contract;
  return isRequested ? listing : skip("other_contract", "protocol_data.parameters.offer");
}

function isInactive(entry: z.output<typeof ListingEntry>): boolean {
  const { status, cancelled, finalized, marked_invalid: isInvalid } = entry;
  if (cancelled === true || finalized === true || isInvalid === true) return true;
  return typeof status === "string" && status.toUpperCase() !== "ACTIVE";
}

type CollectionResult = Awaited<ReturnType<NonNullable<Partner["fetchCollection"]>>>;

/** A contract's collection: one request for its slug, one for the collection. */
export async function fetchCollection(
  transport: Transport,
  chainId: ChainId,
  contract: Address,
  caller?: string,
): Promise<CollectionResult> {
  const get = (path: string) => transport.send({ method: "GET", path, budget: "read", caller });
  const missing = reject("not_found", `OpenSea does not know a collection of ${contract}`);
  const contractResponse = await get(
    `/api/v2/chain/${chainNameAt("opensea", chainId)}/contract/${contract}`,
  );
  const known = parseResponse(contractResponse, ContractResponse, [400, 404]);
  if (isRejection(known)) return known;
  if (!known?.collection) return missing;
  const collectionResponse = await get(
    `/api/v2/collections/${encodeURIComponent(known.collection)}`,
  );
  const found = parseResponse(collectionResponse, CollectionResponse);
  if (isRejection(found)) return found;
  // Stream topics use the contract's slug, which may differ from the collection's.
  return found === null ? missing : { ...collectionOf(found, chainId), slug: known.collection };
}

/** Shares are contractResponse as percents. */
export function collectionOf(
  { collection, contracts, fees }: z.output<typeof CollectionResponse>,
  chainId: ChainId,
): PartnerCollection {
  return {
    slug: collection,
    contracts: contracts
      .filter(({ chain }) => chain === chainNameAt("opensea", chainId))
      .map(({ address }) => address),
    fees: fees.map(({ fee, recipient, required }) => ({
      recipient,
      bps: Math.round(fee * 100),
      isRequired: required,
      isService: isServiceRecipient("opensea", recipient),
    })),
  };
}
