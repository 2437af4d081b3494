import { type Address, zeroAddress } from "viem";
import { seaportAddresses } from "#abis/deployments.ts";
import { chainCalled, chainNameAt } from "#chains/partners.ts";
import { type ListingSort, type StoredListing, totalWei } from "../listing-store.ts";
import { presentWhole, symbolOf } from "../seaport-shapes.ts";
import { openStandIn, type StandInOptions, type StandInState } from "../stand-in.ts";
import { partnerFeeRecipients } from "../stand-in-collections.ts";
import {
  type Answer,
  corruptPage,
  presentedTerms,
  type StandInRequest,
} from "../stand-in-server.ts";

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

const statuses: Record<StoredListing["status"], string> = {
  active: "active",
  filled: "filled",
  cancelled: "cancelled",
  withdrawn: "inactive",
};

const statusAt = (shown: StoredListing, now: number): string =>
  shown.status === "active" && shown.order.components.endTime <= BigInt(now)
    ? "expired"
    : statuses[shown.status];

const iso = (seconds: number | bigint) => new Date(Number(seconds) * 1000).toISOString();

const tokenOf = (shown: StoredListing): Address =>
  shown.order.components.consideration[0]?.token ?? zeroAddress;

const bpsOf = ({ order }: StoredListing, wei: bigint): number =>
  Number((wei * 10_000n) / (totalWei(order) || 1n));

/** Legs after the seller's: Magic Eden's own, and the creator's. */
function feesOf(shown: StoredListing) {
  return shown.order.components.consideration.slice(1).map((leg) => ({
    bps: bpsOf(shown, leg.startAmount),
    kind: leg.recipient === partnerFeeRecipients.magiceden ? "marketplace" : "royalty",
    recipient: leg.recipient,
  }));
}

const amount = (wei: bigint) => ({
  raw: `${wei}`,
  decimal: Number(wei) / 1e18,
  usd: 1,
  native: Number(wei) / 1e18,
});

/** A listing in Reservoir's form, times in unix seconds; raw data is the order itself with its signature. */
function presentOrder(shown: StoredListing, request: StandInRequest & { hasRawData: boolean }) {
  const { order, contract, tokenId, quantity, remaining } = shown;
  const { components } = order;
  const { hash: id, wei } = presentedTerms(shown, request);
  const netWei = components.consideration[0]?.startAmount ?? 0n;
  const fees = feesOf(shown);
  const symbol = symbolOf(shown);
  return {
    id,
    kind: "seaport-v1.6",
    side: "sell",
    status: statusAt(shown, request.now),
    tokenSetId: `token:${contract}:${tokenId}`,
    tokenSetSchemaHash: shown.orderHash,
    contract,
    contractKind: components.offer[0]?.itemType === 3 ? "erc1155" : "erc721",
    maker: components.offerer,
    taker: zeroAddress,
    price: {
      currency: { contract: tokenOf(shown), name: symbol, symbol, decimals: 18 },
      amount: amount(wei / quantity),
      netAmount: amount(netWei / quantity),
    },
    validFrom: Number(components.startTime),
    validUntil: Number(components.endTime),
    quantityFilled: Number(quantity - remaining),
    quantityRemaining: Number(remaining),
    dynamicPricing: null,
    criteria: { kind: "token", data: { token: { tokenId: `${tokenId}` } } },
    source: { id: contract, domain: "magiceden.io", name: "Magic Eden", icon: "", url: "" },
    feeBps: fees.reduce((sum, { bps }) => sum + bps, 0),
    feeBreakdown: fees,
    expiration: Number(components.endTime),
    isReservoir: false,
    isDynamic: false,
    createdAt: iso(shown.listedAt),
    updatedAt: iso(shown.updatedAt),
    originatedAt: iso(shown.listedAt),
    ...(request.hasRawData ? { rawData: rawData(shown) } : {}),
  };
}

function rawData({ order: { components, signature } }: StoredListing) {
  const { startTime, endTime } = components;
  return {
    kind: "single-token",
    ...presentWhole(components),
    startTime: Number(startTime),
    endTime: Number(endTime),
    signature,
  };
}

/** A listing in the form that Magic Eden publishes. */
function presentAsk(shown: StoredListing, request: StandInRequest) {
  const { order, chainId, contract, tokenId, quantity, remaining } = shown;
  const { hash: id, wei } = presentedTerms(shown, request);
  const symbol = symbolOf(shown);
  const fees = feesOf(shown);
  const sumOf = (kind: string) =>
    fees.filter((fee) => fee.kind === kind).reduce((sum, { bps }) => sum + bps, 0);
  return {
    id,
    kind: "ASK",
    status: statusAt(shown, request.now),
    maker: order.components.offerer,
    price: {
      amount: { raw: `${wei / quantity}`, native: `${Number(wei / quantity) / 1e18}` },
      currency: { contract: tokenOf(shown), symbol, decimals: 18, displayName: symbol },
    },
    quantity: { filled: `${quantity - remaining}`, remaining: `${remaining}` },
    expiry: {
      validFrom: iso(order.components.startTime),
      validUntil: iso(order.components.endTime),
    },
    source: "MAGICEDEN",
    fees: {
      royaltyBp: sumOf("royalty"),
      makerMarketplaceBp: sumOf("marketplace"),
      takerMarketplaceBp: 0,
      lpFeeBp: 0,
    },
    createdAt: iso(shown.listedAt),
    updatedAt: iso(shown.updatedAt),
    assetId: `${contract}:${tokenId}`,
    chain: chainNameAt("magiceden", chainId),
    protocol: order.components.offer[0]?.itemType === 3 ? "ERC1155" : "ERC721",
    contract: seaportAddresses["1.6"],
    contractData: { orderContractKind: "seaport-v1.6" },
  };
}
