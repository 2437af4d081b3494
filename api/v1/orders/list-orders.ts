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
import {
  hasTraits,
  type RequestedTrait,
  readTraitKeys,
} from "#projections/traits/read-tokens-with-traits.ts";
import { contractsOfQuery } from "../collection-reference.ts";
import type { Context } from "../context.ts";
import {
  chainId,
  chainRefusals,
  collectionKey,
  listedStatus,
  tokenId,
  wallet,
} from "../parameters.ts";
import { type ListingViewContext, listingViewOf, orderPartsOf } from "./book-order.ts";

/** What the routes of both lists have in common. */
export const orderListShape = {
  meta: pageMeta,
  refuses: { not_found: 404, ...chainRefusals, ...pageRefusals },
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
  { list, filter: ownFilter, present, ...reads }: OrderList<Row, Filter, View>,
) {
  const unusable = endedOrdersOfAll(query);
  if (unusable !== undefined) return unusable;
  const contractIds = await contractsOfQuery(db, query);
  if (isRejection(contractIds)) return contractIds;
  const { traits = [] } = query;
  if (traits.length > 0 && contractIds === null) return traitsOfAll();
  const filter = {
    chainId: query.chainId,
    contractIds,
    tokenId: query.token_id ?? null,
    maker: query.maker ?? null,
    status: query.status,
    ...ownFilter,
  };
  const { sort, fields } = query;
  const scope = {
    list,
    sort,
    ...filter,
    contractIds: contractIds?.join() ?? null,
    ...(traits.length > 0 && { traits: JSON.stringify(traits.toSorted()) }),
  };
  const request = pageOf(query, scope, cursorSchema(sort));
  if (isRejection(request)) return request;
  const view = await listingViewOf({ siteUrl, market });
  const parts = orderPartsOf(fields);
  const traitKeys = await readTraitKeys(db, contractIds ?? [], traits);
  const read = { ...filter, ...(traits.length > 0 && { ofTokens: hasTraits("o", traitKeys) }) };
  const page = await readOrderViews(db, reads, [read, sort, request.read, now(), parts], {
    list: nameOfList(request),
    variant: JSON.stringify([list, view, fields && [...fields]]),
    present: (row: Row) => pickFields(present(row, view), fields),
  });
  const { shown, meta } = cutPage(request, page.rows, (row) => {
    const { value, position } = orderCursor(sort, row);
    return [value, position];
  });
  return {
    data: await page.view(shown.length),
    meta: { chainId: query.chainId, total: Number(page.total), ...meta },
  };
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

/** Traits are those of a collection: a type means something else in each. */
function traitsOfAll(): Rejection<"invalid_parameters"> {
  const message = "needs collection";
  return reject("invalid_parameters", `traits: ${message}`, [{ field: "traits", message }]);
}

type PageQuery<Filter> = [
  filter: OrderFilter & { chainId: ChainId; ofTokens?: RawBuilder<unknown> } & Filter,
  sort: OrderSort,
  slice: OrderSlice,
  now: Date,
  parts: OrderParts,
];

/** How orders of one kind are read. */
type OrderReads<Row extends OrderRow, Filter> = {
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
