import type { RawBuilder } from "kysely";
import type { Hex } from "viem";
import { z } from "zod";
import {
  cursorInteger,
  cursorTime,
  cutPage,
  nameOfList,
  pageFields,
  pageMeta,
  pageOf,
  pageRefusals,
  pickFields,
  type RowFields,
} from "#api/http/page.ts";
import { rowCache, type Viewing, viewCached } from "#api/http/reads/cache.ts";
import type { ChainId } from "#chains/index.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import {
  type HashedOrder,
  type OrderCursor,
  type OrderFilter,
  type OrderKey,
  type OrderSlice,
  type OrderSort,
  orderCursor,
} from "#projections/orders/read-order-page.ts";
import { isOpenStatus, type OrderParts, type OrderRow } from "#projections/orders/read-orders.ts";
import type { Moment } from "#projections/past/moment.ts";
import {
  hasTraits,
  type RequestedTrait,
  readTraitKeys,
} from "#projections/traits/read-tokens-with-traits.ts";
import { contractsOfQuery } from "../collection-reference.ts";
import type { Context } from "../context.ts";
import { atOfOrders, momentMeta, momentOfQuery, momentScope, momentView } from "../moment.ts";
import {
  chainId,
  chainRefusals,
  collectionKey,
  listedStatus,
  tokenId,
  wallet,
} from "../parameters.ts";
import { foldPast, pointMeta, pointParts, pointRefusals } from "../point.ts";
import { type ListingViewContext, listingViewOf, orderPartsOf } from "./sides.ts";

/** What the routes of both lists have in common. */
export const orderListShape = {
  meta: pageMeta.extend({ at: pointMeta.optional() }).meta({ id: "OrderListMeta" }),
  refuses: { not_found: 404, ...chainRefusals, ...pageRefusals, ...pointRefusals },
  isCacheable: true,
} as const;

/** Filters of both lists. */
export const orderFilters = {
  chainId,
  collection: collectionKey.optional(),
  token_id: tokenId.optional().meta({
    description: "Only this token id: of the collection, else of every contract of the chain.",
  }),
  maker: wallet.optional(),
  status: listedStatus,
  at: atOfOrders("Orders as they were then. Needs `collection` or `maker`."),
};

/** Of both lists: parameters with which statements are planned once. */
export const orderPlans = ["chainId", "collection", "sort", "fields", ...Object.keys(pageFields)];

/** Digits are those of a uint256 and of a bigint column. */
const cursorSchema = (sort: OrderSort) =>
  z
    .tuple([sort === "created_at" ? cursorTime : cursorInteger(78), cursorInteger(18)])
    .transform(([value, position]): OrderCursor => ({ value, position }));

type ListQuery = z.output<
  z.ZodObject<typeof orderFilters & typeof pageFields & { sort: z.ZodType<OrderSort> }>
> & { fields?: RowFields; traits?: readonly RequestedTrait[] | undefined };

/** What differs between the lists of listings and of bids. */
type OrderList<Row extends OrderRow, Filter, View> = OrderReads<Row, Filter> & {
  list: "listings" | "bids";
  /** The filters that only this list has. */
  filter: Filter;
  /** Whether all of them can be found at a moment. */
  isPastKnown(moment: Moment, now: Date): boolean;
  /** Of a row with all parts. */
  present(row: Row, view: ListingViewContext): View;
};

export async function listOrders<
  Row extends OrderRow,
  Filter extends Record<string, string | bigint | null>,
  View extends object,
>(
  query: ListQuery,
  { db, siteUrl, market, now }: Context,
  { list, filter: ownFilter, present, isPastKnown, ...reads }: OrderList<Row, Filter, View>,
) {
  const unusable = unboundedList(query);
  if (unusable !== undefined) return unusable;
  const contractIds = await contractsOfQuery(db, query);
  if (isRejection(contractIds)) return contractIds;
  const { traits = [] } = query;
  const filter = {
    chainId: query.chainId,
    contractIds,
    tokenId: query.token_id ?? null,
    maker: query.maker ?? null,
    status: query.status,
    ...ownFilter,
  };
  const { sort, fields } = query;
  const moment = await momentOfQuery(db, query, (found) => isPastKnown(found, now()));
  if (isRejection(moment)) return moment;
  const scope = {
    ...{ list, sort, ...filter, contractIds: contractIds?.join() ?? null },
    ...traitsScope(traits),
    ...momentScope(moment),
  };
  const request = pageOf(query, scope, cursorSchema(sort));
  if (isRejection(request)) return request;
  const view = { ...(await listingViewOf({ siteUrl, market })), ...momentView(moment) };
  const parts = orderPartsOf(fields);
  const read = await withTraits(db, filter, traits);
  const viewing = {
    list: nameOfList(request),
    variant: JSON.stringify([list, view, fields && [...fields]]),
    present: (row: Row) => pickFields(present(row, view), fields),
  };
  const asked = [read, sort, request.read, now(), parts] as const;
  const page = await (moment === null
    ? readOrderViews(db, reads, asked, viewing)
    : viewPast(db, moment, reads, asked, viewing));
  if (isRejection(page)) return page;
  const { shown, meta } = cutPage(request, page.rows, (row) => {
    const { value, position } = orderCursor(sort, row);
    return [value, position];
  });
  return {
    data: await page.view(shown.length),
    meta: {
      ...{ chainId: query.chainId, total: Number(page.total), ...meta },
      ...momentMeta(moment),
    },
    ...pointParts(moment?.point ?? null),
  };
}

const unboundedList = (query: ListQuery) =>
  endedOrdersOfAll(query) ?? momentOfChain(query) ?? traitsOfOther(query);

/** Traits are those of a collection, as a type means something else in each, and of today. */
function traitsOfOther({
  traits = [],
  collection,
  at,
}: Pick<ListQuery, "traits" | "collection" | "at">): Rejection<"invalid_parameters"> | undefined {
  if (traits.length === 0 || (collection !== undefined && at === undefined)) return undefined;
  const message = at === undefined ? "needs collection" : "are today's: cannot be asked with at";
  return reject("invalid_parameters", `traits: ${message}`, [{ field: "traits", message }]);
}

const traitsScope = (traits: readonly RequestedTrait[]) =>
  traits.length === 0 ? {} : { traits: JSON.stringify(traits.toSorted()) };

/** The filter, limited to the tokens of its contracts that have traits. */
async function withTraits<Filter extends Pick<OrderFilter, "contractIds">>(
  db: Database,
  filter: Filter,
  traits: readonly RequestedTrait[],
): Promise<Filter & { ofTokens?: RawBuilder<unknown> }> {
  if (traits.length === 0) return filter;
  const traitKeys = await readTraitKeys(db, filter.contractIds ?? [], traits);
  return { ...filter, ofTokens: hasTraits("o", traitKeys) };
}

/** Of a whole chain any number of orders would have to be folded. */
function momentOfChain({
  at,
  collection,
  maker,
}: Pick<ListQuery, "at" | "collection" | "maker">): Rejection<"invalid_parameters"> | undefined {
  if (at === undefined || collection !== undefined || maker !== undefined) return undefined;
  const message = "needs collection or maker";
  return reject("invalid_parameters", `at: ${message}`, [{ field: "at", message }]);
}

/** A page of orders as they were. */
async function viewPast<Row extends OrderRow, Filter, View extends object>(
  db: Database,
  moment: Moment,
  { readPastPage }: Pick<OrderReads<Row, Filter>, "readPastPage">,
  [filter, sort, slice, , parts]: PageQuery<Filter>,
  { present }: Viewing<Row, View>,
): Promise<Page<View> | Rejection<"too_much_to_fold">> {
  const page = await foldPast(() => readPastPage(db, moment, filter, sort, slice, parts));
  if (isRejection(page)) return page;
  return { ...page, view: async (count) => page.rows.slice(0, count).map(present) };
}

type StatusQuery = Pick<ListQuery, "status" | "maker" | "token_id">;

/** The ended orders of a chain or a collection are without bound and have no index. */
function endedOrdersOfAll({
  status,
  maker,
  token_id,
}: StatusQuery): Rejection<"invalid_parameters"> | undefined {
  if (isOpenStatus(status) || maker !== undefined || token_id !== undefined) return undefined;
  const message = `${status} needs maker or token_id`;
  return reject("invalid_parameters", `status: ${message}`, [{ field: "status", message }]);
}

type PageQuery<Filter> = readonly [
  filter: OrderFilter & { chainId: ChainId; ofTokens?: RawBuilder<unknown> } & Filter,
  sort: OrderSort,
  slice: OrderSlice,
  now: Date,
  parts: OrderParts,
];

/** How orders of one kind are read. */
type OrderReads<Row extends OrderRow, Filter> = {
  readPastPage(
    db: Database,
    moment: Moment,
    filter: PageQuery<Filter>[0],
    ...query: [sort: OrderSort, slice: OrderSlice, parts: OrderParts]
  ): Promise<{ total: bigint; rows: Row[] }>;
  readPage(db: Database, ...query: PageQuery<Filter>): Promise<{ total: bigint; rows: Row[] }>;
  readHashedPage(
    db: Database,
    ...query: PageQuery<Filter>
  ): Promise<{ total: bigint; rows: HashedOrder[] }>;
  /** In any order. */
  readOrders(
    db: Database,
    chainId: number,
    orderHashes: readonly Hex[],
    now: Date,
    parts: OrderParts,
  ): Promise<Row[]>;
};

type Page<View> = {
  readonly total: bigint;
  readonly rows: readonly OrderKey[];
  /** Of the first so many rows. */
  readonly view: (count: number) => Promise<View[]>;
};

/** A page of orders as they are shown; of first pages that were asked for before only what has changed is read and made anew. */
async function readOrderViews<Row extends OrderRow, Filter, View extends object>(
  db: Database,
  { readPage, readHashedPage, readOrders }: OrderReads<Row, Filter>,
  query: PageQuery<Filter>,
  viewing: Viewing<Row, View>,
): Promise<Page<View>> {
  const [{ chainId }, , { offset, after }, now, parts] = query;
  const { variant, present } = viewing;
  const cache = after === null && offset === 0 ? rowCache(db, viewing) : undefined;
  if (cache === undefined) {
    const page = await readPage(db, ...query);
    return { ...page, view: async (count) => page.rows.slice(0, count).map(present) };
  }
  const page = await readHashedPage(db, ...query);
  const nameOf = ({ orderHash, contentHash }: HashedOrder) =>
    `order ${orderHash} ${contentHash} ${variant}`;
  const make = async (others: readonly OrderKey[]) => {
    const hashes = others.map(({ orderHash }) => orderHash);
    const rows = await readOrders(db, chainId, hashes, now, parts);
    const found = new Map(rows.map((row) => [row.orderHash, row]));
    return hashes.flatMap((hash) => found.get(hash) ?? []).map(present);
  };
  return { ...page, view: (count) => viewCached(cache, page.rows.slice(0, count), nameOf, make) };
}
