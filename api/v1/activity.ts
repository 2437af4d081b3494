import { type Hex, zeroAddress } from "viem";
import { z } from "zod";
import type { OrderViewContext } from "#api/v1/orders/sides.ts";
import type { ChainId } from "#chains/index.ts";
import { displayPrice } from "#jobs/prices/price.ts";
import {
  type ActivityKey,
  type ActivityRow,
  readActivity,
  type SubmittedOrderRow,
} from "#projections/activity/read-activity.ts";
import { type ActivityType, activityTypes } from "#projections/activity/read-event-scans.ts";
import type { EventRow } from "#projections/activity/read-events.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import {
  cursorInteger,
  cursorOf,
  cursorRefusals,
  documentedRowCount,
  pageFields,
  parseCursorKey,
  type RowFields,
  rowFields,
  uncountedMeta,
  withFields,
} from "../http/page.ts";
import { orderId } from "../orders/order-id.ts";
import { contractsOfQuery } from "./collection-reference.ts";
import { type Context, route } from "./context.ts";
import {
  activityTypeList,
  chainId,
  chainRefusals,
  collectionKey,
  since,
  tokenId,
  wallet,
} from "./parameters.ts";
import { Sale } from "./sales.ts";
import {
  presentBidUrl,
  presentCollectionUrls,
  presentListingUrl,
  presentMakerUrl,
  presentSaleUrl,
  presentTokenUrls,
} from "./urls.ts";
import {
  address,
  chainIdValue,
  collectionRef,
  currency,
  displayAmount,
  hash,
  presentCurrency,
  priceText,
  time,
  uint256Text,
} from "./wire.ts";

/** Something that happened to a token or an order. */
export const ActivityItem = z
  .object({
    id: z.string().meta({ description: "Tells it from every other." }),
    type: z.enum(activityTypes),
    chainId: chainIdValue,
    collection: collectionRef.nullable().meta({
      description:
        "null for cancels of orders that were not taken in here, or of all of a maker's.",
    }),
    contract: address.nullable(),
    tokenId: uint256Text.nullable().meta({
      description: "null for offers on a whole collection. Of ids minted as a range, the first.",
    }),
    quantity: uint256Text.nullable().meta({ description: "Units; ids of a range." }),
    from: address.nullable().meta({ description: "Giver, seller, or the order's maker." }),
    to: address.nullable().meta({ description: "Receiver or buyer." }),
    price: z.number().nullable().meta({ description: priceText }),
    priceWei: uint256Text.nullable().meta({ description: "Per unit." }),
    currency: currency.nullable(),
    usd: z
      .number()
      .nullable()
      .meta({ description: "Of a sale: `price` at the coin's last price before it." }),
    marketplace: z.string().nullable(),
    protocol: Sale.shape.protocol.nullable().meta({ description: "Of a sale: the exchange." }),
    via: Sale.shape.via,
    washTrade: Sale.shape.washTrade,
    saleId: hash.nullable(),
    orderId: z.string().nullable().meta({ description: "Of a listing or an offer taken in here." }),
    orderHash: hash.nullable().meta({ description: "null for a cancel of all of a maker's." }),
    expiresAt: time.nullable(),
    txHash: hash.nullable().meta({ description: "null for orders: they are on no chain." }),
    logIndex: z.int().min(0).nullable(),
    blockNumber: z.int().min(0).nullable(),
    blockHash: hash.nullable(),
    timestamp: time,
    urls: z.object({
      collection: z.url().optional(),
      token: z.url().optional(),
      sale: z.url().optional(),
      listing: z.url().optional(),
      bid: z.url().optional(),
      maker: z.url().optional(),
    }),
  })
  .meta({ id: "ActivityItem" });

type Item = z.output<typeof ActivityItem>;
type ActivityContext = OrderViewContext & { chainId: ChainId };

export function presentActivity(row: ActivityRow, site: ActivityContext): Item {
  return "event" in row ? presentEvent(row.event, site) : presentOrder(row.order, site);
}

function presentEvent(row: EventRow, site: ActivityContext): Item {
  const { priceWei, currency: paid, saleId } = row;
  return {
    id: `${row.transactionHash}-${row.logIndex}-${row.subIndex}`,
    type: row.type,
    chainId: site.chainId,
    ...presentSubject(row),
    from: row.from,
    to: row.to,
    price: priceWei === null ? null : displayAmount(priceWei),
    priceWei: priceWei === null ? null : String(priceWei),
    currency: paid === null ? null : presentCurrency(site.chainId, paid),
    usd: row.priceUsdE8 === null ? null : displayPrice(row.priceUsdE8),
    marketplace: row.marketplace,
    protocol: presentProtocol(row),
    via: row.via,
    washTrade: row.washRule && { rule: row.washRule },
    saleId: saleId,
    orderId: null,
    orderHash: row.orderHash,
    expiresAt: null,
    txHash: row.transactionHash,
    logIndex: row.logIndex,
    blockNumber: Number(row.blockNumber),
    blockHash: row.blockHash,
    timestamp: row.at.toISOString(),
    urls: {
      ...subjectUrls(row, site),
      ...(saleId !== null && { sale: presentSaleUrl(site, saleId) }),
    },
  };
}

function presentProtocol({ protocol: name, protocolVersion: version, exchange }: EventRow) {
  if (name === null || version === null || exchange === null) return null;
  return { name, version, address: exchange };
}

function presentOrder(row: SubmittedOrderRow, site: ActivityContext): Item {
  const id = orderId(site.prefix, row.orderHash);
  const isListing = row.type === "listing";
  return {
    id,
    type: row.type,
    chainId: site.chainId,
    ...presentSubject(row),
    from: row.maker,
    to: null,
    price: displayAmount(row.priceWei),
    priceWei: String(row.priceWei),
    currency: presentCurrency(site.chainId, row.currency ?? zeroAddress),
    usd: null,
    marketplace: "native",
    protocol: null,
    via: null,
    washTrade: null,
    saleId: null,
    orderId: id,
    orderHash: row.orderHash,
    expiresAt: new Date(Number(row.endTime) * 1000).toISOString(),
    txHash: null,
    logIndex: null,
    blockNumber: null,
    blockHash: null,
    timestamp: row.at.toISOString(),
    urls: {
      ...subjectUrls(row, site),
      ...(isListing ? { listing: presentListingUrl(site, id) } : { bid: presentBidUrl(site, id) }),
      maker: presentMakerUrl(site, row.maker),
    },
  };
}

type Subject = Pick<
  EventRow,
  "contract" | "collectionAddress" | "collectionSlug" | "collectionName" | "tokenId" | "quantity"
>;

function presentSubject(row: Subject) {
  const { collectionAddress, collectionSlug: slug, collectionName: name, tokenId, quantity } = row;
  return {
    collection: collectionAddress === null ? null : { address: collectionAddress, slug, name },
    contract: row.contract,
    tokenId: tokenId === null ? null : String(tokenId),
    quantity: quantity === null ? null : String(quantity),
  };
}

function subjectUrls(
  { contract, collectionAddress, collectionSlug, tokenId }: Subject,
  site: ActivityContext,
) {
  const collection = collectionSlug ?? collectionAddress;
  if (contract === null || collection === null) return {};
  if (tokenId === null) return presentCollectionUrls(site, collection);
  return presentTokenUrls(site, collection, contract, tokenId);
}

export const activityDescriptions = {
  collection:
    "Only events of this collection. A cancel is there if its order was submitted here or shown by a partner before; a raised counter, which cancels all of a maker's orders, is in no collection's list.",
  perPage:
    "Maximum number of rows. With a filter for rare events a page may hold fewer rows, or none, with more to follow: each page scans a bounded part of the history.",
} as const;

/** Query parameters of every list of activity. */
const activityFields = {
  type: activityTypeList.optional(),
  since: since.optional(),
  fields: rowFields(ActivityItem),
  cursor: pageFields.cursor,
  per_page: pageFields.per_page.meta({
    description: activityDescriptions.perPage,
    override: documentedRowCount,
  }),
};

type ActivityQuery = {
  chainId: ChainId;
  contractIds: readonly number[] | null;
  /** With `contractIds`. */
  tokenId?: bigint | undefined;
  type?: ActivityType[] | undefined;
  wallet?: Hex | undefined;
  since?: Date | undefined;
  limit: number;
  cursor?: string | undefined;
};

/** A page of activity, newest first, and the cursor of the next one. */
export async function readActivityPage(db: Database, query: ActivityQuery) {
  const { chainId, contractIds, limit } = query;
  const { type: types = null, wallet = null, since = null, tokenId = null } = query;
  const scope = {
    list: "activity",
    chainId,
    wallet,
    tokenId,
    types: types?.join() ?? null,
    contractIds: contractIds?.join() ?? null,
    since: since?.toISOString() ?? null,
  };
  const after =
    query.cursor === undefined ? null : parseCursorKey(query.cursor, scope, activityKey);
  if (isRejection(after)) return after;
  const filter = { chainId, types, contractIds, tokenId, wallet };
  const { rows, next } = await readActivity(db, filter, { limit, after, since });
  return { rows, nextCursor: cursorOf(scope, next && textOf(next)) };
}

/** A page of activity as `/v1` answers it. */
async function answerActivity(
  query: Omit<ActivityQuery, "limit"> & { per_page: number; fields?: RowFields },
  { db, siteUrl, market: { prefix } }: Context,
) {
  const { chainId, per_page, fields, ...filter } = query;
  const page = await readActivityPage(db, { ...filter, chainId, limit: per_page });
  if (isRejection(page)) return page;
  return {
    data: withFields(
      page.rows.map((row) => presentActivity(row, { siteUrl, prefix, chainId })),
      fields,
    ),
    meta: { chainId, per_page, next_cursor: page.nextCursor },
  };
}

/** Digits are those of bigint and integer columns. */
const activityKey = z
  .tuple([cursorInteger(18), cursorInteger(9), cursorInteger(9), cursorInteger(18)])
  .transform(
    ([blockId, logIndex, subIndex, order]): ActivityKey => ({
      event: { blockId, logIndex: Number(logIndex), subIndex: Number(subIndex) },
      order,
    }),
  );

function textOf({ event, order }: ActivityKey) {
  return [event.blockId, event.logIndex, event.subIndex, order];
}

const { type, ...otherFields } = activityFields;

export const listActivity = route(
  {
    method: "get",
    path: "/v1/activity",
    operationId: "listActivity",
    tag: "Activity",
    loadClass: "lists",
    summary: "Sales, transfers, mints, burns, listings, offers and cancels, newest first",
    query: z.object({
      chainId,
      type,
      collection: collectionKey
        .optional()
        .meta({ description: `Slug or 0x address. ${activityDescriptions.collection}` }),
      wallet: wallet.optional().meta({ description: "Only events that involve this wallet." }),
      ...otherFields,
    }),
    data: z.array(ActivityItem),
    meta: uncountedMeta,
    refuses: { not_found: 404, ...chainRefusals, ...cursorRefusals },
    isCacheable: true,
  },
  async ({ query: { collection, ...query } }, context) => {
    const contractIds = await contractsOfQuery(context.db, { chainId: query.chainId, collection });
    if (isRejection(contractIds)) return contractIds;
    return answerActivity({ ...query, contractIds }, context);
  },
);

export const tokenActivity = route(
  {
    operationId: "listTokenActivity",
    method: "get",
    path: "/v1/collections/{collection}/tokens/{tokenId}/activity",
    tag: "Collections",
    loadClass: "lists",
    summary:
      "What happened to one token, newest first: sales, transfers, listings, offers on it and cancels. An address selects its contract, a slug all of the collection's",
    params: z.object({ collection: collectionKey, tokenId }),
    query: z.object({ chainId, ...activityFields }),
    data: z.array(ActivityItem),
    meta: uncountedMeta,
    refuses: { not_found: 404, ...chainRefusals, ...cursorRefusals },
    isCacheable: true,
  },
  async ({ params: { collection, tokenId }, query }, context) => {
    const { chainId } = query;
    const contractIds = await contractsOfQuery(context.db, { chainId, collection });
    if (isRejection(contractIds)) return contractIds;
    return answerActivity({ ...query, contractIds, tokenId }, context);
  },
);
