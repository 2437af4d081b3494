import type { Address } from "viem";
import { chainCalled } from "#chains/partners.ts";
import { corruptPage } from "../corrupt-responses.ts";
import type { ListingSort, StoredListing } from "../listing-store.ts";
import { openStandIn, type StandInOptions } from "../open-stand-in.ts";
import type { StandInState } from "../stand-in.ts";
import type { Answer, StandInRequest } from "../stand-in-server.ts";
import { presentAsk, presentOrder, statusAt } from "./shapes.ts";

/** Stands in for Magic Eden's listings: Reservoir's third version with raw orders, and its own fourth. */
export const openPartnerB = (options: StandInOptions = {}) =>
  openStandIn("magiceden", answer, options);

const thirdVersion = /^(?:\/v3\/rtp)?\/(\w+)\/orders\/asks\/v5$/;
const fourthVersion = /^(?:\/v4\/evm-public)?\/orders\/asks$/;

async function answer(state: StandInState, request: StandInRequest): Promise<Answer | undefined> {
  if (request.method !== "GET") return undefined;
  const third = thirdVersion.exec(request.path);
  if (third !== null) return answerOrders(state, request, third[1] ?? "");
  return fourthVersion.test(request.path) ? answerAsks(state, request) : undefined;
}

const refuse = (message: string): Answer => ({
  status: 400,
  body: { statusCode: 400, error: "Bad Request", message },
});

const sorts: Record<string, ListingSort> = {
  createdAt: "created",
  updatedAt: "updated",
  price: "price",
};

/** What both versions filter by, under names of their own. */
type Filters = {
  ids: readonly string[];
  contracts: readonly string[];
  tokens: readonly string[];
  makers: readonly string[];
  statuses: readonly string[];
  /** Unix seconds. */
  createdFrom: number;
  updatedFrom: number;
  updatedTo: number;
};

const isIn = (wanted: readonly string[], value: string) =>
  wanted.length === 0 || wanted.some((other) => other.toLowerCase() === value.toLowerCase());

function passes(shown: StoredListing, filters: Filters, now: number): boolean {
  if (filters.ids.length > 0) return isIn(filters.ids, shown.orderHash);
  const isStatus =
    filters.statuses.includes("any") || filters.statuses.includes(statusAt(shown, now));
  return (
    isStatus &&
    isIn(filters.contracts, shown.contract) &&
    isIn(filters.tokens, `${shown.contract}:${shown.tokenId}`) &&
    isIn(filters.makers, shown.order.components.offerer) &&
    shown.listedAt >= filters.createdFrom &&
    shown.updatedAt >= filters.updatedFrom &&
    shown.updatedAt <= filters.updatedTo
  );
}

/** `GET /v3/rtp/{chain}/orders/asks/v5`. */
function answerOrders({ book }: StandInState, request: StandInRequest, chain: string): Answer {
  const { query, now } = request;
  const chainId = chainCalled("magiceden", chain);
  const limit = readLimit(request, { usual: 50, most: 1_000 });
  const sort = sorts[query.get("sortBy") ?? "createdAt"];
  if (chainId === undefined) return refuse(`${chain} is not a supported chain`);
  if (limit === undefined || sort === undefined) return refuse("limit or sortBy is not valid");
  const filters: Filters = {
    ids: query.getAll("ids"),
    contracts: query.getAll("contracts"),
    tokens: query.getAll("token"),
    makers: query.getAll("maker"),
    statuses: [query.get("status") ?? "active"],
    createdFrom: 0,
    updatedFrom: Number(query.get("startTimestamp") ?? 0),
    updatedTo: Number(query.get("endTimestamp") ?? Number.MAX_SAFE_INTEGER),
  };
  const page = book.page({
    chainId,
    sort,
    limit,
    contract: onlyOne(filters.contracts),
    isDescending: query.get("sortDirection") !== "asc",
    cursor: query.get("continuation") ?? undefined,
    keep: (shown) => passes(shown, filters, now),
  });
  const hasRawData = query.get("includeRawData") === "true";
  const orders = page.listings.map((shown) => presentOrder(shown, { ...request, hasRawData }));
  return {
    status: 200,
    body: { orders: corruptPage(orders, request), continuation: page.next ?? null },
  };
}

/** `GET /v4/evm-public/orders/asks`, whose published form says nothing of raw orders. */
function answerAsks({ book }: StandInState, request: StandInRequest): Answer {
  const { query, now } = request;
  const chainId = chainCalled("magiceden", query.get("chain") ?? "");
  const limit = readLimit(request, { usual: 20, most: 100 });
  const sort = sorts[query.get("sortBy") ?? "price"];
  if (chainId === undefined) return refuse("chain is not supported");
  if (limit === undefined || sort === undefined) return refuse("limit or sortBy is not valid");
  const list = (name: string) => [...query.getAll(`${name}[]`), ...query.getAll(name)];
  const seconds = (name: string) => Date.parse(query.get(name) ?? "1970-01-01T00:00:00Z") / 1000;
  const filters: Filters = {
    ids: list("ids"),
    contracts: list("collectionId"),
    tokens: list("assetIds"),
    makers: list("makers"),
    statuses: list("status").length === 0 ? ["active"] : list("status"),
    createdFrom: seconds("createAfter"),
    updatedFrom: seconds("updateAfter"),
    updatedTo: Number.MAX_SAFE_INTEGER,
  };
  if (filters.ids.length + filters.contracts.length === 0)
    return refuse("Either ids or collectionId must be provided");
  const page = book.page({
    chainId,
    sort,
    limit,
    contract: onlyOne(filters.contracts),
    isDescending: query.get("sortDir") === "desc",
    cursor: query.get("continuation") ?? undefined,
    keep: (shown) => passes(shown, filters, now),
  });
  const asks = page.listings.map((shown) => presentAsk(shown, request));
  const continuation = page.next === undefined ? {} : { continuation: page.next };
  return { status: 200, body: { asks: corruptPage(asks, request), ...continuation } };
}

const onlyOne = (contracts: readonly string[]): Address | undefined =>
  contracts.length === 1 ? (contracts[0] as Address) : undefined;

function readLimit({ query }: StandInRequest, { usual, most }: { usual: number; most: number }) {
  const limit = Number(query.get("limit") ?? usual);
  return Number.isInteger(limit) && limit >= 1 && limit <= most ? limit : undefined;
}
