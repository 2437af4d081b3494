import { seaportAddresses } from "#abis/deployments.ts";
import { chainCalled, chainNameAt, chainsKnownTo } from "#chains/partners.ts";
import type { StoredListing } from "../listing-store.ts";
import { openStandIn, type StandInOptions, type StandInState } from "../stand-in.ts";
import { type Answer, corruptPage, type StandInRequest } from "../stand-in-server.ts";
import { answerFulfillment } from "./fulfillment.ts";
import { takeListing } from "./intake.ts";
import { presentCollection, presentContract, presentListing, presentOldListing } from "./shapes.ts";
import { openPartnerAStream } from "./stream.ts";

/** Stands in for OpenSea's API v2 and its Stream API, as far as listings go. */
export const openPartnerA = (options: StandInOptions = {}) =>
  openStandIn("opensea", answer, options, openPartnerAStream);

type Route = (
  state: StandInState,
  request: StandInRequest,
  path: readonly string[],
) => Promise<Answer> | Answer;

const routes: readonly (readonly [method: string, path: RegExp, route: Route])[] = [
  ["GET", /^\/api\/v2\/collections\/([^/]+)$/, answerCollection],
  ["GET", /^\/api\/v2\/chain\/([^/]+)\/contract\/([^/]+)$/, answerContract],
  ["GET", /^\/api\/v2\/listings\/collection\/([^/]+)\/all$/, answerListings],
  ["GET", /^\/api\/v2\/orders\/([^/]+)\/seaport\/listings$/, answerOldListings],
  ["POST", /^\/api\/v2\/orders\/([^/]+)\/seaport\/listings$/, answerPost],
  ["GET", /^\/api\/v2\/orders\/chain\/([^/]+)\/protocol\/([^/]+)\/([^/]+)$/, answerOrder],
  ["POST", /^\/api\/v2\/listings\/fulfillment_data$/, answerFulfillment],
];

async function answer(state: StandInState, request: StandInRequest): Promise<Answer | undefined> {
  for (const [method, path, route] of routes) {
    const match = method === request.method ? path.exec(request.path) : null;
    if (match !== null) return route(state, request, match.slice(1).map(decodeURIComponent));
  }
  return undefined;
}

const refuse = (status: number, ...errors: string[]): Answer => ({ status, body: { errors } });
const found = (body: unknown): Answer => ({ status: 200, body });

function answerCollection(
  { collections }: StandInState,
  _: StandInRequest,
  [slug]: readonly string[],
) {
  const collection = collections.find((known) => known.slug === slug);
  if (collection === undefined) return refuse(404, `Collection with slug ${slug} not found`);
  return found(presentCollection(collection));
}

function answerContract(
  state: StandInState,
  _: StandInRequest,
  [chain = "", address]: readonly string[],
) {
  const chainId = chainCalled("opensea", chain);
  if (chainId === undefined) return refuse(400, `${chain} is not a supported chain`);
  const collection = state.collections.find(
    (known) => known.chainId === chainId && known.contract === address?.toLowerCase(),
  );
  if (collection === undefined) return refuse(404, `Contract ${address} not found`);
  return found(presentContract(collection));
}

const isOpen = (shown: StoredListing, now: number) =>
  shown.status === "active" && shown.order.components.endTime > BigInt(now);

function answerListings(
  { collections, book }: StandInState,
  request: StandInRequest,
  path: readonly string[],
) {
  const [slug] = path;
  const collection = collections.find((known) => known.slug === slug);
  if (collection === undefined) return refuse(404, `Collection with slug ${slug} not found`);
  const limit = readLimit(request, { usual: 20, most: 200 });
  if (limit === undefined) return refuse(400, "limit must be from 1 to 200");
  const maker = request.query.get("maker")?.toLowerCase();
  const page = book.page({
    chainId: collection.chainId,
    contract: collection.contract,
    limit,
    sort: "created",
    isDescending: true,
    cursor: request.query.get("next") ?? undefined,
    keep: (shown) =>
      isOpen(shown, request.now) &&
      (maker === undefined || shown.order.components.offerer.toLowerCase() === maker),
  });
  const listings = page.listings.map((shown) => presentListing(shown, request));
  return found({
    listings: corruptPage(listings, request),
    ...(page.next === undefined ? {} : { next: page.next }),
  });
}

function answerOldListings(
  { book }: StandInState,
  request: StandInRequest,
  [chain = ""]: readonly string[],
) {
  const chainId = chainCalled("opensea", chain);
  const limit = readLimit(request, { usual: 20, most: 50 });
  const { query, now } = request;
  if (chainId === undefined) return refuse(400, `${chain} is not a supported chain`);
  if (limit === undefined) return refuse(400, "limit must be from 1 to 50");
  const contract = query.get("asset_contract_address") as `0x${string}` | null;
  const tokenIds = query.getAll("token_ids");
  if (tokenIds.length > 0 && contract === null)
    return refuse(400, "token_ids needs asset_contract_address");
  const [maker, after, before] = ["maker", "listed_after", "listed_before"].map((name) =>
    query.get(name)?.toLowerCase(),
  );
  const page = book.page({
    chainId,
    contract: contract ?? undefined,
    limit,
    cursor: query.get("cursor") ?? undefined,
    sort: query.get("order_by") === "eth_price" ? "price" : "created",
    isDescending: query.get("order_direction") !== "asc",
    keep: (shown) =>
      isOpen(shown, now) &&
      (tokenIds.length === 0 || tokenIds.includes(`${shown.tokenId}`)) &&
      (maker === undefined || shown.order.components.offerer.toLowerCase() === maker) &&
      (after === undefined || shown.listedAt > Number(after)) &&
      (before === undefined || shown.listedAt < Number(before)),
  });
  const orders = page.listings.map((shown) => presentOldListing(shown, request));
  return found({ next: page.next ?? null, previous: null, orders: corruptPage(orders, request) });
}

function answerOrder(
  { book }: StandInState,
  request: StandInRequest,
  path: readonly string[],
): Answer {
  const [chain = "", protocol = "", hash = ""] = path;
  const chainId = chainCalled("opensea", chain);
  if (chainId === undefined) return refuse(400, `${chain} is not a supported chain`);
  if (protocol.toLowerCase() !== seaportAddresses["1.6"])
    return refuse(400, `${protocol} is not supported`);
  const shown = book.find(chainId, hash);
  if (shown === undefined) return refuse(400, `Order with hash ${hash} not found`);
  return found({ order: presentListing(shown, request) });
}

async function answerPost(
  state: StandInState,
  request: StandInRequest,
  [chain = ""]: readonly string[],
) {
  const chainId = chainCalled("opensea", chain);
  if (chainId === undefined)
    return refuse(
      400,
      `${chain} is none of ${chainsKnownTo("opensea")
        .map((known) => chainNameAt("opensea", known))
        .join(", ")}`,
    );
  const taken = await takeListing(state, { chainId, body: request.body, now: request.now });
  return Array.isArray(taken) ? refuse(400, ...taken) : found(presentListing(taken, request));
}

function readLimit({ query }: StandInRequest, { usual, most }: { usual: number; most: number }) {
  const limit = Number(query.get("limit") ?? usual);
  return Number.isInteger(limit) && limit >= 1 && limit <= most ? limit : undefined;
}
