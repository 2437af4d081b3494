import type { Address, Hex } from "viem";
import type { z } from "zod";
import { type ChainId, seaport } from "../../../../abis/deployments.ts";
import { isRejection, reject } from "../../../../projections/domain/rejection.ts";
import type { PartnerListing } from "../../../../projections/facts/partner-listing.ts";
import { firstIssue } from "../order-schema.ts";
import { parseAnswer, readEntries } from "../parse-answer.ts";
import type { AskedCollection, Partner, PartnerFailure, Skipped } from "../partner.ts";
import { recognizeListing } from "../recognize-listing.ts";
import type { Transport } from "../transport.ts";
import { chainNames } from "./chain-names.ts";
import { ListingEntry, ListingsAnswer, OrderAnswer, OrdersAnswer, statedHash } from "./shapes.ts";

const listingsAtOnce = "200";
/** The older endpoint gives fewer at once. */
const ordersAtOnce = "50";

type Page = ReturnType<Partner["fetchListings"]>;
type Context = {
  chainId: ChainId;
  contract: Address | null;
  creators: readonly Address[];
  now: Date;
};

/** All listings of a slug; those of other contracts than the one asked for are left out. */
export async function fetchAll(
  transport: Transport,
  { chainId, slug, contract, creators }: AskedCollection & { chainId: ChainId },
  cursor: string | null,
): Page {
  if (slug === null) return reject("not_found", `${contract} has no collection`);
  const answer = await transport.ask({
    method: "GET",
    path: `/api/v2/listings/collection/${encodeURIComponent(slug)}/all`,
    query: { limit: listingsAtOnce, ...(cursor === null ? {} : { next: cursor }) },
    budget: "read",
  });
  const page = parseAnswer(answer, ListingsAnswer, [400, 404]);
  if (isRejection(page)) return page;
  if (page === null) return notFound(cursor);
  const context = { chainId, contract, creators, now: new Date() };
  return { cursor: page.next, ...readEntries(page.listings, (entry) => readEntry(entry, context)) };
}

/** Listings of a contract, the latest first. The endpoint is an older one: without it there is no news. */
export async function fetchNewest(
  transport: Transport,
  { chainId, contract, creators }: AskedCollection & { chainId: ChainId },
  cursor: string | null,
): Page {
  const answer = await transport.ask({
    method: "GET",
    path: `/api/v2/orders/${chainNames[chainId]}/seaport/listings`,
    query: {
      asset_contract_address: contract,
      order_by: "created_date",
      order_direction: "desc",
      limit: ordersAtOnce,
      ...(cursor === null ? {} : { cursor }),
    },
    budget: "read",
  });
  const page = parseAnswer(answer, OrdersAnswer, [400, 404, 405, 410]);
  if (isRejection(page)) return page;
  if (page === null) return cursor === null ? nothing : notFound(cursor);
  const context = { chainId, contract, creators, now: new Date() };
  return { cursor: page.next, ...readEntries(page.orders, (entry) => readEntry(entry, context)) };
}

const nothing = { listings: [], cursor: null, skipped: [] };

const notFound = (cursor: string | null) =>
  cursor === null
    ? reject("not_found", "OpenSea knows no such collection")
    : reject("invalid_cursor", "OpenSea does not take the cursor any more");

/** One listing as an entry of a list. Null: it is not shown. */
export async function fetchEntry(
  transport: Transport,
  { chainId, orderHash }: { chainId: ChainId; orderHash: Hex },
  creators: readonly Address[],
): Promise<PartnerListing | Skipped | null | PartnerFailure> {
  const place = `chain/${chainNames[chainId]}/protocol/${seaport["1.6"]}/${orderHash}`;
  const path = `/api/v2/orders/${place}`;
  const answer = await transport.ask({ method: "GET", path, budget: "read" });
  const parsed = parseAnswer(answer, OrderAnswer, [400, 404]);
  if (parsed === null || isRejection(parsed)) return parsed;
  const read = readEntry(parsed.order, { chainId, contract: null, creators, now: new Date() });
  if ("reason" in read || read.orderHash === orderHash) return read;
  return { reason: "wrong_order_hash", path: "order_hash", standsFor: "any" };
}

export async function fetchListing(
  transport: Transport,
  chainId: ChainId,
  orderHash: Hex,
): Promise<PartnerListing | null | PartnerFailure> {
  const entry = await fetchEntry(transport, { chainId, orderHash }, []);
  return entry !== null && "reason" in entry ? null : entry;
}

/** One entry of a list, in the newer form or the older one. Never throws. */
export function readEntry(entry: unknown, context: Context): PartnerListing | Skipped {
  const { chainId, contract, creators, now } = context;
  const parsed = ListingEntry.safeParse(entry);
  if (!parsed.success) {
    const { path } = firstIssue(parsed.error);
    return { reason: "malformed", path, standsFor: statedHash(entry) ?? "any" };
  }
  const { data } = parsed;
  if (isOver(data)) return { reason: "not_active", path: "status", standsFor: "none" };
  const { order_hash: orderHash, protocol_data, protocol_address: exchange } = data;
  const skip = (reason: string, path: string) => ({
    ...{ reason, path, standsFor: reason === "wrong_order_hash" ? ("any" as const) : orderHash },
  });
  if (data.chain !== undefined && data.chain !== chainNames[chainId]) {
    return skip("other_chain", "chain");
  }
  const { parameters: components, signature } = protocol_data;
  const listing = recognizeListing(
    { marketplace: "opensea", chainId, orderHash, exchange, components, signature },
    { creators, now },
  );
  if (typeof listing === "string") return skip(listing, "protocol_data");
  const isAsked = contract === null || listing.contract === contract;
  return isAsked ? listing : skip("other_contract", "protocol_data.parameters.offer");
}

function isOver(entry: z.output<typeof ListingEntry>): boolean {
  const { status, cancelled, finalized, marked_invalid: isInvalid } = entry;
  if (cancelled === true || finalized === true || isInvalid === true) return true;
  return typeof status === "string" && status.toUpperCase() !== "ACTIVE";
}
