import type { Address, Hex } from "viem";
import { z } from "zod";
import { seaportAddresses } from "#abis/deployments.ts";
import type { ChainId } from "#chains/index.ts";
import { chainNameAt } from "#chains/partners.ts";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import type { PartnerListing } from "#projections/partners/partner-listing.ts";
import { bytes32 } from "../order-schema.ts";
import { parsePartnerListing } from "../parse-listing.ts";
import type { CollectionQuery, Partner, PartnerFailure, SkippedEntry } from "../partner.ts";
import {
  firstIssue,
  orderComponents,
  parseEntries,
  parseResponse,
  signatureOrNone,
} from "../send-request.ts";
import type { Transport } from "../transport.ts";

const pageSize = "500";

type Context = {
  chainId: ChainId;
  contract: Address | null;
  creators: readonly Address[];
  now: Date;
};

/** Active listings of a contract. `newest` sorts by update time, so that reactivated listings are included. */
export async function fetchListings(
  transport: Transport,
  { chainId, contract, creators }: CollectionQuery & { chainId: ChainId },
  { order, cursor }: Parameters<Partner["fetchListings"]>[2],
): ReturnType<Partner["fetchListings"]> {
  const response = await send(transport, chainId, {
    contracts: contract,
    status: "active",
    sortBy: order === "newest" ? "updatedAt" : "createdAt",
    sortDirection: "desc",
    limit: pageSize,
    excludeSources: otherMarketplace,
    ...(cursor === null ? {} : { continuation: cursor }),
  });
  const page = parseResponse(response, AsksResponse, [400, 404]);
  if (isRejection(page)) return page;
  if (page === null) {
    return cursor === null
      ? reject("not_found", "Magic Eden does not know the contract")
      : reject("invalid_cursor", "Magic Eden no longer accepts the cursor");
  }
  const context = { chainId, contract, creators, now: new Date() };
  return {
    cursor: page.continuation,
    ...parseEntries(page.orders, (entry) => parseMagicEdenEntry(entry, context)),
  };
}

export async function fetchMagicEdenListing(
  transport: Transport,
  chainId: ChainId,
  orderHash: Hex,
): Promise<PartnerListing | null | PartnerFailure> {
  const response = await send(transport, chainId, { ids: orderHash });
  const parsed = parseResponse(response, AsksResponse, [400, 404]);
  if (parsed === null || isRejection(parsed)) return parsed;
  const context = { chainId, contract: null, creators: [], now: new Date() };
  const { listings } = parseEntries(parsed.orders, (entry) => parseMagicEdenEntry(entry, context));
  return listings.find((listing) => listing.orderHash === orderHash) ?? null;
}

const send = (transport: Transport, chainId: ChainId, query: Record<string, string>) =>
  transport.send({
    method: "GET",
    path: `/${chainNameAt("magiceden", chainId)}/orders/asks/v5`,
    query: { ...query, includeRawData: "true" },
    budget: "read",
  });

/** Its listings are recorded from itself; here they lack the fulfillment data. */
const otherMarketplace = "opensea.io";

/** Parses one entry of a list. Never throws. */
export function parseMagicEdenEntry(
  entry: unknown,
  context: Context,
): PartnerListing | SkippedEntry {
  const { chainId, contract, creators, now } = context;
  const head = AskHead.safeParse(entry);
  if (!head.success) return malformedEntry(entry, firstIssue(head.error).path);
  const { id: orderHash, kind, side = "sell", status, source } = head.data;
  const skip = (reason: string, path: string) => ({
    reason,
    path,
    concerns: reason === "wrong_order_hash" ? ("any" as const) : orderHash,
  });
  if (status !== "active") return { ...skip("not_active", "status"), concerns: "none" };
  if (side !== "sell") return skip("not_a_listing", "side");
  if (source?.domain === otherMarketplace) return skip("other_marketplace", "source.domain");
  if (kind !== "seaport-v1.6") return skip("other_exchange", "kind");
  const raw = RawAsk.safeParse(entry);
  if (!raw.success) return malformedEntry(entry, firstIssue(raw.error).path);
  const { signature, ...components } = raw.data.rawData;
  if (signature === null) return skip("no_signature", "rawData.signature");
  const exchange = seaportAddresses["1.6"];
  const listing = parsePartnerListing(
    { marketplace: "magiceden", chainId, orderHash, exchange, components, signature },
    { creators, now },
  );
  if (typeof listing === "string") return skip(listing, "rawData");
  const isRequested = contract === null || listing.contract === contract;
  return isRequested ? listing : skip("other_contract", "rawData.offer");
}

const malformedEntry = (entry: unknown, path: string): SkippedEntry => ({
  reason: "malformed",
  path,
  concerns: statedHash(entry) ?? "any",
});

/** The fields used of `GET /{chain}/orders/asks/v5` (Reservoir, third version). */
const AsksResponse = z.object({
  orders: z.array(z.unknown()),
  continuation: z
    .string()
    .nullish()
    .transform((text) => text || null),
});

/** The fields that decide whether an entry is parsed. */
const AskHead = z.object({
  id: bytes32,
  kind: z.string(),
  side: z.string().optional(),
  status: z.string(),
  source: z.object({ domain: z.string().nullish() }).nullish(),
});

/** The order itself, with `includeRawData`. */
const RawAsk = z.object({ rawData: orderComponents.extend({ signature: signatureOrNone }) });

/** The hash of an entry that does not parse otherwise. */
function statedHash(entry: unknown): Hex | null {
  return z.object({ id: bytes32 }).safeParse(entry).data?.id ?? null;
}
