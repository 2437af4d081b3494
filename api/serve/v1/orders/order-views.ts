import type { Hex } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { Database } from "#projections/log/database.ts";
import type { OrderParts, OrderRow } from "#projections/orders/read-orders.ts";
import type { HashedOrder, OrderKey, OrderSlice, OrderSort, OrderFilter } from "#projections/orders/read-order-page.ts";
import { rowCache, type Viewing, viewCached } from "#api/http/reads/cache.ts";

type PageQuery<Filter> = [
  filter: OrderFilter & { chainId: ChainId } & Filter,
  sort: OrderSort,
  slice: OrderSlice,
  now: Date,
  parts: OrderParts,
];

/** How orders of one kind are read. */
export type OrderReads<Row extends OrderRow, Filter> = {
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
export async function readOrderViews<Row extends OrderRow, Filter, View extends object>(
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
