import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import { assertFoldable } from "../engine/fold-budget.ts";
import type { Database } from "../log/database.ts";
import { bytea } from "../log/sql-values.ts";
import {
  collectionJoins,
  hasEnded,
  type ListedStatus,
  type OrderRow,
  type OrderSchema,
  ofStatus,
  orderTable,
  storedStatuses,
  timely,
} from "./read-orders.ts";

export type OrderSort =
  | "price_asc"
  | "price_desc"
  | "created_at"
  | "seller_net_asc"
  | "seller_net_desc";

/** Position in a sorted list: wei, or microseconds of the creation, then the position in the log. */
export type OrderCursor = { value: bigint; position: bigint };

export type OrderSlice = { limit: number; offset: number; after: OrderCursor | null };

/** What a page is read with: `columns` of a row `o` joined with `collectionJoins`. */
type PageOptions = {
  columns: RawBuilder<unknown>;
  sort: OrderSort;
  slice: OrderSlice;
  now: Date;
};

type OrderQueries = { total: OrderQuery; page: OrderQuery };
type OrderPage<Row> = { total: bigint; rows: Row[] };

/** One page of orders and how many match `total`, in one statement; `page` may leave out what the cursor implies. */
export function readOrderPage<Row extends OrderRow>(
  db: Database,
  queries: OrderQueries,
  options: PageOptions,
): Promise<OrderPage<Row>> {
  return readPage(db, queries, options, sql`detail.*`);
}

/** What an order is found by, and its place in a list. */
export type OrderKey = Pick<
  OrderRow,
  "orderHash" | "unitPriceWei" | "sellerNetWei" | "createdMicros" | "position"
>;
/** `contentHash`: equal for one order means that all of its columns are equal. */
export type HashedOrder = OrderKey & { contentHash: bigint };

/** The same orders without their columns: `readOrdersByHash` reads those of the orders that the caller does not know. */
export function readHashedOrderPage(
  db: Database,
  queries: OrderQueries,
  options: PageOptions,
): Promise<OrderPage<HashedOrder>> {
  const keys = sql`
    detail."orderHash", detail."unitPriceWei", detail."sellerNetWei", detail."createdMicros", detail.position,
    hash_record_extended(detail, 0) as "contentHash"`;
  return readPage(db, queries, options, keys);
}

async function readPage<Row extends OrderKey>(
  db: Database,
  { total, page }: OrderQueries,
  { columns, sort, slice, now }: PageOptions,
  shown: RawBuilder<unknown>,
): Promise<OrderPage<Row>> {
  const { past } = page;
  const { rows } = await sql<Row & { total: bigint; folded?: number; orderHash: string | null }>`
    with ${past === undefined ? sql`` : sql`${past.ctes},`}
    counted as materialized (
      select ${totalOf(total, now)} as total ${past === undefined ? sql`` : sql`, ${past.folded} as folded`}
    ),
    page as (${pageOf(page, sort, slice, now)})
    select counted.*, ${shown}
    from counted left join page o on true ${collectionJoins} cross join lateral (select ${columns}) detail
    ${orderBy(sort)}`.execute(db);
  assertFoldable(rows[0]?.folded ?? 0);
  return { total: rows[0]?.total ?? 0n, rows: rows.filter(({ orderHash }) => orderHash !== null) };
}

export function orderCursor(sort: OrderSort, row: OrderKey): OrderCursor {
  const { position } = row;
  if (sort === "created_at") return { value: row.createdMicros, position };
  return { value: isByNet(sort) ? row.sellerNetWei : row.unitPriceWei, position };
}

/** `created_at` is newest first. */
function orderBy(sort: OrderSort): RawBuilder<unknown> {
  const direction = isAscending(sort) ? sql`asc` : sql`desc`;
  return sql`order by o.${sortColumn(sort)} ${direction}, o.position ${direction}`;
}

/**
 * Rows that match, in index order and no more than the page needs. When `counted.total` is 0 the table is not read.
 */
function pageOf(query: OrderQuery, sort: OrderSort, slice: OrderSlice, now: Date) {
  const { limit, offset, after } = slice;
  const ranges = indexRanges(query);
  const matching = sql`
    ${conditions(query, now)} ${afterCursor(sort, after)} and (select total from counted) > 0`;
  if (ranges === null) {
    return sql`
      select o.* from ${rowsOf(query)} o where ${matching}
      ${orderBy(sort)} limit ${limit} offset ${offset}`;
  }
  // The first rows of each range by its index, then the union sorted again.
  return sql`
    select o.* from ${ranges.values}
    cross join lateral (
      select o.* from ${rowsOf(query)} o where ${ranges.condition} and ${matching}
      ${orderBy(sort)} limit ${limit + offset}
    ) o
    ${orderBy(sort)} limit ${limit} offset ${offset}`;
}

function afterCursor(sort: OrderSort, after: OrderCursor | null): RawBuilder<unknown> {
  if (after === null) return sql``;
  const than = isAscending(sort) ? sql`>` : sql`<`;
  const value =
    sort === "created_at"
      ? sql`timestamptz 'epoch' + ${Number(after.value)}::float8 * interval '1 microsecond'`
      : sql`${after.value}::numeric`;
  return sql`and (o.${sortColumn(sort)}, o.position) ${than} (${value}, ${after.position}::bigint)`;
}

function sortColumn(sort: OrderSort): RawBuilder<unknown> {
  if (sort === "created_at") return sql.ref("created_at");
  return sql.ref(isByNet(sort) ? "seller_net_wei" : "unit_price_wei");
}

const isByNet = (sort: OrderSort) => sort === "seller_net_asc" || sort === "seller_net_desc";
const isAscending = (sort: OrderSort) => sort === "price_asc" || sort === "seller_net_asc";

/** What listings and bids are both filtered by. */
export type OrderFilter = {
  chainId: number;
  /** null: the whole chain. */
  contractIds: readonly number[] | null;
  tokenId: bigint | null;
  maker: Hex | null;
  /** Ended orders only of a maker or a token: just these have an index over them. */
  status: ListedStatus;
};

/** A filter on the table of listings or of bids, with the conditions that only one of them has. */
export type OrderQuery = {
  schema: OrderSchema;
  filter: OrderFilter;
  /** SQL: the rows that the filter's token selects; null: those of its id. */
  rowsOfToken: RawBuilder<unknown> | null;
  /** On a row of the order table, its columns unqualified. */
  condition: RawBuilder<unknown>;
  /** The same on a row of the `count` table; null where that table has no such column. */
  countCondition: RawBuilder<unknown> | null;
  /** Marketplaces that may match, each with an index range of its own; null: one index range holds all rows. */
  marketplaces: readonly string[] | null;
  /** Orders of another time than the table's. */
  past?: PastOrders;
};

/** Orders as they were: rows like those of the table, which CTEs have, and how many facts were folded into them. */
export type PastOrders = {
  readonly ctes: RawBuilder<unknown>;
  readonly rows: RawBuilder<unknown>;
  readonly folded: RawBuilder<number>;
};

const rowsOf = ({ schema, rowsOfToken, past }: OrderQuery) =>
  rowsOfToken ?? past?.rows ?? orderTable(schema);

/** Ranges that are sorted within an index: one per contract or marketplace, and one per stored status of several. */
function indexRanges({ filter: { contractIds, status }, marketplaces }: OrderQuery) {
  const stored = storedStatuses(status);
  const ranges: { values: RawBuilder<unknown>; condition: RawBuilder<unknown> }[] = [];
  if (contractIds !== null) {
    ranges.push({
      values: sql`unnest(${contractIds}::int[]) wanted (contract_id)`,
      condition: sql`o.contract_id = wanted.contract_id`,
    });
  } else if (marketplaces !== null) {
    ranges.push({
      values: sql`unnest(${marketplaces}::text[]) wanted (marketplace)`,
      condition: sql`o.marketplace = wanted.marketplace`,
    });
  }
  if (stored.length > 1) {
    ranges.push({
      values: sql`unnest(${stored}::text[]) stored (status)`,
      condition: sql`o.status = stored.status`,
    });
  }
  if (ranges.length === 0) return null;
  return {
    values: sql.join(
      ranges.map(({ values }) => values),
      sql` cross join `,
    ),
    condition: sql.join(
      ranges.map(({ condition }) => condition),
      sql` and `,
    ),
  };
}

/** How many match: the rows, or their counted number as of the tables' clock, less the orders that have ended since. */
function totalOf(query: OrderQuery, now: Date): RawBuilder<unknown> {
  const rows = sql`
    select count(*) from ${rowsOf(query)} o where ${ofContracts(query)} and`;
  if (!hasCounts(query)) return sql`(${rows} ${conditions(query, now)})`;
  return sql`(${sumOfCounts(query)}) - (${rows} ${filters(query)} and ${hasEnded(now)})`;
}

function hasCounts({ filter, countCondition }: OrderQuery): boolean {
  return countCondition !== null && filter.tokenId === null && filter.maker === null;
}

function sumOfCounts({ schema, filter, countCondition }: OrderQuery): RawBuilder<unknown> {
  const { chainId, contractIds, status } = filter;
  const contracts =
    contractIds === null ? sql`` : sql`and n.contract_id = any (${contractIds}::int[])`;
  return sql`
    select coalesce(sum(n.rows), 0)::bigint from ${sql.table(`${schema}.count`)} n
    where n.chain_id = ${chainId} and n.status = ${status} ${contracts} and ${countCondition}`;
}

function ofContracts({ filter: { contractIds } }: OrderQuery): RawBuilder<unknown> {
  return contractIds === null ? sql`true` : sql`o.contract_id = any (${contractIds}::int[])`;
}

function conditions(query: OrderQuery, now: Date): RawBuilder<unknown> {
  return sql`${filters(query)} ${timely(query.filter.status, now)}`;
}

function filters({ filter, condition, rowsOfToken }: OrderQuery): RawBuilder<unknown> {
  const { chainId, tokenId, maker, status } = filter;
  const isById = tokenId !== null && rowsOfToken === null;
  const ofToken = isById ? sql`and o.token_id = ${tokenId}` : sql``;
  const ofMaker = maker === null ? sql`` : sql`and o.maker = ${bytea(maker)}`;
  return sql`
    ${ofStatus(status)} and o.chain_id = ${chainId} ${ofToken} ${ofMaker} and ${condition}`;
}
