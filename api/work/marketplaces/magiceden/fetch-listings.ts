import type { Address, Hex } from "viem";
import { type ChainId, seaport } from "../../../../abis/deployments.ts";
import { isRejection, reject } from "../../../../projections/domain/rejection.ts";
import type { PartnerListing } from "../../../../projections/facts/partner-listing.ts";
import { firstIssue } from "../order-schema.ts";
import { parseAnswer, readEntries } from "../parse-answer.ts";
import type { AskedCollection, Partner, PartnerFailure, Skipped } from "../partner.ts";
import { recognizeListing } from "../recognize-listing.ts";
import type { Transport } from "../transport.ts";
import { AskHead, AsksAnswer, RawAsk, statedHash } from "./shapes.ts";

const chainNames: Record<ChainId, string> = { 1: "ethereum", 33139: "apechain" };
const asksAtOnce = "500";

type Context = {
  chainId: ChainId;
  contract: Address | null;
  creators: readonly Address[];
  now: Date;
};

/** Open listings of a contract. Whatever changed is new: what comes back to life is among the latest. */
export async function fetchListings(
  transport: Transport,
  { chainId, contract, creators }: AskedCollection & { chainId: ChainId },
  { order, cursor }: Parameters<Partner["fetchListings"]>[2],
): ReturnType<Partner["fetchListings"]> {
  const answer = await ask(transport, chainId, {
    contracts: contract,
    status: "active",
    sortBy: order === "newest" ? "updatedAt" : "createdAt",
    sortDirection: "desc",
    limit: asksAtOnce,
    excludeSources: otherMarketplace,
    ...(cursor === null ? {} : { continuation: cursor }),
  });
  const page = parseAnswer(answer, AsksAnswer, [400, 404]);
  if (isRejection(page)) return page;
  if (page === null) {
    return cursor === null
      ? reject("not_found", "Magic Eden knows no such contract")
      : reject("invalid_cursor", "Magic Eden does not take the cursor any more");
  }
  const context = { chainId, contract, creators, now: new Date() };
  return {
    cursor: page.continuation,
    ...readEntries(page.orders, (entry) => readEntry(entry, context)),
  };
}

export async function fetchListing(
  transport: Transport,
  chainId: ChainId,
  orderHash: Hex,
): Promise<PartnerListing | null | PartnerFailure> {
  const answer = await ask(transport, chainId, { ids: orderHash });
  const parsed = parseAnswer(answer, AsksAnswer, [400, 404]);
  if (parsed === null || isRejection(parsed)) return parsed;
  const context = { chainId, contract: null, creators: [], now: new Date() };
  const { listings } = readEntries(parsed.orders, (entry) => readEntry(entry, context));
  return listings.find((listing) => listing.orderHash === orderHash) ?? null;
}

const ask = (transport: Transport, chainId: ChainId, query: Record<string, string>) =>
  transport.ask({
    method: "GET",
    path: `/${chainNames[chainId]}/orders/asks/v5`,
    query: { ...query, includeRawData: "true" },
    budget: "read",
  });

/** Its listings are taken from it, and are shown here without what fills them. */
const otherMarketplace = "opensea.io";

/** One entry of a list. Never throws. */
export function readEntry(entry: unknown, context: Context): PartnerListing | Skipped {
  const { chainId, contract, creators, now } = context;
  const head = AskHead.safeParse(entry);
  if (!head.success) return malformed(entry, firstIssue(head.error).path);
  const { id: orderHash, kind, side = "sell", status, source } = head.data;
  const skip = (reason: string, path: string) => ({
    ...{ reason, path, standsFor: reason === "wrong_order_hash" ? ("any" as const) : orderHash },
  });
  if (status !== "active") return { ...skip("not_active", "status"), standsFor: "none" };
  if (side !== "sell") return skip("not_a_listing", "side");
  if (source?.domain === otherMarketplace) return skip("other_marketplace", "source.domain");
  if (kind !== "seaport-v1.6") return skip("other_exchange", "kind");
  const raw = RawAsk.safeParse(entry);
  if (!raw.success) return malformed(entry, firstIssue(raw.error).path);
  const { signature, ...components } = raw.data.rawData;
  if (signature === null) return skip("no_signature", "rawData.signature");
  const exchange = seaport["1.6"];
  const listing = recognizeListing(
    { marketplace: "magiceden", chainId, orderHash, exchange, components, signature },
    { creators, now },
  );
  if (typeof listing === "string") return skip(listing, "rawData");
  const isAsked = contract === null || listing.contract === contract;
  return isAsked ? listing : skip("other_contract", "rawData.offer");
}

const malformed = (entry: unknown, path: string): Skipped => ({
  reason: "malformed",
  path,
  standsFor: statedHash(entry) ?? "any",
});
