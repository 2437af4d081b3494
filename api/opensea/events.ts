import { type Hex, zeroAddress } from "viem";
import { z } from "zod";
import { seaportAddresses } from "#abis/deployments.ts";
import { chainNameAt } from "#chains/partners.ts";
import type { SubmittedOrderRow } from "#projections/activity/read-activity.ts";
import type { ActivityType } from "#projections/activity/read-event-scans.ts";
import type { EventRow } from "#projections/activity/read-events.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import {
  type MarketplaceOrder,
  readMarketplaceOrders,
} from "#projections/orders/read-signed-orders.ts";
import { commaList } from "../http/query.ts";
import { readActivityPage } from "../v1/activity.ts";
import { contractsOfQuery } from "../v1/collection-reference.ts";
import { collectionKey, tokenId, wallet } from "../v1/parameters.ts";
import { presentTokenUrls } from "../v1/urls.ts";
import { presentCurrency } from "../v1/wire.ts";
import { decimals } from "./present-order.ts";
import { type OpenSeaContext, openSeaPage, openSeaRefusals, openSeaRoute } from "./route.ts";

/** Types of events, and ours of which each is a part. */
const activityOf = {
  sale: ["sale"],
  transfer: ["transfer", "burn"],
  mint: ["mint"],
  listing: ["listing"],
  offer: ["offer"],
  trait_offer: ["offer"],
  collection_offer: ["offer"],
} as const satisfies Record<string, readonly ActivityType[]>;
type EventType = keyof typeof activityOf;
const eventTypes = Object.keys(activityOf) as EventType[];

const query = z.object({
  event_type: commaList(200)
    .pipe(z.array(z.enum(eventTypes)))
    .default(eventTypes),
  after: z
    .string()
    .regex(/^\d{1,10}$/, "must be Unix seconds")
    .optional(),
  ...openSeaPage(200),
});
type EventsQuery = z.output<typeof query>;
type AssetEvent = Record<string, unknown>;

const shared = {
  method: "get",
  tag: "OpenSea",
  loadClass: "lists",
  query,
  data: z.object({
    asset_events: z.array(z.record(z.string(), z.unknown())),
    next: z.string().nullable(),
  }),
  refuses: openSeaRefusals,
} as const;

type Subject = { readonly collection?: string; readonly tokenId?: bigint; readonly wallet?: Hex };

/** A page of what happened, newest first. Its cursor is one of `/v1/activity`. */
async function eventsOf(
  { collection, ...subject }: Subject,
  { event_type: asked, after, limit, next: cursor }: EventsQuery,
  context: OpenSeaContext,
) {
  const { db, chainId } = context;
  const contractIds = await contractsOfQuery(db, { chainId, collection });
  if (isRejection(contractIds)) return contractIds;
  const type = [...new Set(asked.flatMap((one) => activityOf[one]))].sort();
  const since = after === undefined ? undefined : new Date(Number(after) * 1_000);
  const filter = { chainId, contractIds, type, since, cursor, limit: Number(limit), ...subject };
  const page = await readActivityPage(db, filter);
  if (isRejection(page)) return page;
  const orders = page.rows.flatMap((row) => ("order" in row ? [row.order.orderHash] : []));
  const signed = await readMarketplaceOrders(db, chainId, orders);
  const events = page.rows.flatMap((row): AssetEvent[] => {
    if ("event" in row) return [presentEvent(row.event, context)];
    const order = signed.get(row.order.orderHash);
    return order === undefined ? [] : presentOrderEvent(row.order, order, asked, context);
  });
  return { data: { asset_events: events, next: page.nextCursor } };
}

function presentEvent(row: EventRow, context: OpenSeaContext): AssetEvent {
  const { chainId } = context;
  const event = {
    event_timestamp: seconds(row.at),
    chain: chainNameAt("opensea", chainId),
    transaction: row.transactionHash,
    quantity: Number(row.quantity ?? 1n),
    nft: presentSubject(row, context),
  };
  if (row.type !== "sale")
    return {
      ...event,
      event_type: row.type === "mint" ? "mint" : "transfer",
      transfer_type: row.type,
      from_address: row.from,
      to_address: row.to,
    };
  return {
    ...event,
    event_type: "sale",
    order_hash: row.orderHash,
    protocol_address: row.exchange,
    payment: paymentOf(chainId, row.currency, row.totalWei),
    closing_date: event.event_timestamp,
    seller: row.from,
    buyer: row.to,
  };
}

/** None where the offers of this kind were not asked for. */
function presentOrderEvent(
  row: SubmittedOrderRow,
  { components, terms }: MarketplaceOrder,
  asked: readonly EventType[],
  context: OpenSeaContext,
): AssetEvent[] {
  const { chainId } = context;
  const kind = kindOf(terms);
  if (!asked.includes(kind)) return [];
  const ofToken = row.tokenId === null ? {} : { asset: presentSubject(row, context) };
  return [
    {
      event_type: "order",
      order_type: kind === "offer" ? "item_offer" : kind,
      event_timestamp: seconds(row.at),
      chain: chainNameAt("opensea", chainId),
      order_hash: row.orderHash,
      protocol_address: seaportAddresses["1.6"],
      payment: paymentOf(chainId, row.currency, row.priceWei * row.quantity),
      start_date: Number(components.startTime),
      expiration_date: Number(row.endTime),
      quantity: Number(row.quantity),
      maker: row.maker,
      taker: "",
      is_private_listing: false,
      ...ofToken,
      ...(row.tokenId === null && {
        criteria: {
          collection: { slug: row.collectionSlug ?? row.collectionAddress },
          contract: { address: row.contract },
          traits: traitsOf(terms),
        },
      }),
    },
  ];
}

type Terms = MarketplaceOrder["terms"];

/** An offer for listed ids is one for a collection. */
function kindOf({ side, tokenId, criteria }: Terms): EventType {
  if (side === "ask") return "listing";
  if (tokenId !== null) return "offer";
  return criteria?.traits == null ? "collection_offer" : "trait_offer";
}

const traitsOf = ({ criteria }: Terms) =>
  (criteria?.traits ?? []).flatMap((trait) => ("value" in trait ? [trait] : []));

type Traded = Pick<EventRow, "contract" | "tokenId" | "collectionSlug" | "collectionAddress">;

function presentSubject(row: Traded, context: OpenSeaContext) {
  const { contract, tokenId } = row;
  const collection = row.collectionSlug ?? row.collectionAddress;
  const isKnown = contract !== null && tokenId !== null && collection !== null;
  return {
    identifier: String(tokenId),
    collection,
    contract,
    opensea_url: isKnown ? presentTokenUrls(context, collection, contract, tokenId).token : null,
    traits: [],
    is_disabled: false,
    is_nsfw: false,
  };
}

/** `quantity` is of all units, in the smallest unit of the currency. */
function paymentOf(chainId: OpenSeaContext["chainId"], paid: Hex | null, wei: bigint | null) {
  const { symbol, address } = presentCurrency(chainId, paid ?? zeroAddress);
  return { quantity: String(wei), token_address: address, decimals, symbol: symbol ?? "" };
}

const seconds = (at: Date) => Math.floor(at.getTime() / 1_000);

export const assetEvents = openSeaRoute(
  {
    ...shared,
    path: "/api/v2/events",
    operationId: "listOpenSeaEvents",
    summary: "Sales, transfers, mints and orders of the chain, newest first",
  },
  ({ query }, context) => eventsOf({}, query, context),
);

export const accountEvents = openSeaRoute(
  {
    ...shared,
    path: "/api/v2/events/accounts/{address}",
    operationId: "listOpenSeaEventsOfAccount",
    summary: "Events of a wallet, on either side",
    params: z.object({ address: wallet }),
    query: query.extend({ chain: z.string().optional() }),
  },
  ({ params, query }, context) => eventsOf({ wallet: params.address }, query, context),
);

export const slugEvents = openSeaRoute(
  {
    ...shared,
    path: "/api/v2/events/collection/{slug}",
    operationId: "listOpenSeaEventsOfCollection",
    summary: "Events of a collection",
    params: z.object({ slug: collectionKey }),
  },
  ({ params, query }, context) => eventsOf({ collection: params.slug }, query, context),
);

export const nftEvents = openSeaRoute(
  {
    ...shared,
    path: "/api/v2/events/chain/{chain}/contract/{address}/nfts/{identifier}",
    operationId: "listOpenSeaEventsOfNft",
    summary: "Events of a token",
    params: z.object({ chain: z.string(), address: wallet, identifier: tokenId }),
  },
  ({ params: { address, identifier }, query }, context) =>
    eventsOf({ collection: address, tokenId: identifier }, query, context),
);
