import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import { hasEnded, isOpen } from "./read-shown.ts";

export type OrderSort = "price_asc" | "price_desc" | "created_at";

/** Place in a sorted book: wei of the price or microseconds of the creation, then the position. */
export type OrderKey = { value: bigint; position: bigint };

export type OrderSlice = { limit: number; offset: number; after: OrderKey | null };

/** What both books are filtered by. */
export type BookFilter = {
  chainId: number;
  /** null: the whole chain. */
  contractIds: readonly number[] | null;
  tokenId: bigint | null;
  maker: Hex | null;
  status: "active" | "inactive";
};

/** A book's table, its counted rows, and what it alone is filtered by. */
export type Book = {
  schema: "listings" | "bids";
  filter: BookFilter;
  /** On a row of the table, whose columns may be named without it. */
  condition: RawBuilder<unknown>;
  /** The same on a row of `count`; null where rows are not counted by it. */
  counted: RawBuilder<unknown> | null;
  /** Marketplaces that may match and whose rows a chain's indexes hold apart; null: all rows are in one order. */
  apart: readonly string[] | null;
};

export function keyOf(
  sort: OrderSort,
  row: { unitPriceWei: bigint; createdMicros: bigint; position: bigint },
): OrderKey {
  const value = sort === "created_at" ? row.createdMicros : row.unitPriceWei;
  return { value, position: row.position };
}

/** `created_at` is newest first. */
export function inOrder(sort: OrderSort): RawBuilder<unknown> {
  const towards = sort === "price_asc" ? sql`asc` : sql`desc`;
  return sql`order by o.${sortColumn(sort)} ${towards}, o.position ${towards}`;
}

/**
 * Rows of a sorted book that match and have not ended: an index gives them in order and only as many as are asked for.
 * Where `counted` (total) says that none match, none are looked for.
 */
export function pageOf(book: Book, sort: OrderSort, slice: OrderSlice, now: Date) {
  const { limit, offset, after } = slice;
  const parts = partsOf(book);
  const standing = sql`
    ${matching(book)} and not ${hasEnded(now)} ${beyond(sort, after)} and (select total from counted) > 0`;
  if (parts === null) {
    return sql`
      select o.* from ${table(book)} o where ${standing}
      ${inOrder(sort)} limit ${limit} offset ${offset}`;
  }
  // An index gives the first of each part; their union is sorted again.
  return sql`
    select o.* from ${parts.wanted}
    cross join lateral (
      select o.* from ${table(book)} o where ${parts.isOf} and ${standing}
      ${inOrder(sort)} limit ${limit + offset}
    ) o
    ${inOrder(sort)} limit ${limit} offset ${offset}`;
}

/** What has an order of its own in some index: the contracts wanted, or the marketplaces of the whole chain. */
function partsOf({ filter: { contractIds }, apart }: Book) {
  if (contractIds !== null) {
    return {
      wanted: sql`unnest(${contractIds}::int[]) wanted (contract_id)`,
      isOf: sql`o.contract_id = wanted.contract_id`,
    };
  }
  if (apart === null) return null;
  return {
    wanted: sql`unnest(${apart}::text[]) wanted (marketplace)`,
    isOf: sql`o.marketplace = wanted.marketplace`,
  };
}

/** How many match: what the tables say as of their clock, without those that have ended since. */
export function totalOf(book: Book, now: Date): RawBuilder<unknown> {
  const rows = sql`${table(book)} o where ${ofContracts(book)} and ${matching(book)}`;
  return sql`
    (${isCounted(book) ? countedRows(book) : sql`select count(*) from ${rows}`})
    - (select count(*) from ${rows} and ${hasEnded(now)})`;
}

function isCounted({ filter, counted }: Book): boolean {
  return counted !== null && filter.tokenId === null && filter.maker === null;
}

function countedRows({ schema, filter, counted }: Book): RawBuilder<unknown> {
  const { chainId, contractIds, status } = filter;
  const ofContracts =
    contractIds === null ? sql`` : sql`and n.contract_id = any (${contractIds}::int[])`;
  return sql`
    select coalesce(sum(n.rows), 0)::bigint from ${sql.table(`${schema}.count`)} n
    where n.chain_id = ${chainId} and n.status = ${status} ${ofContracts} and ${counted}`;
}

function table({ schema }: Book): RawBuilder<unknown> {
  return sql.table(schema === "listings" ? "listings.listing" : "bids.bid");
}

function ofContracts({ filter: { contractIds } }: Book): RawBuilder<unknown> {
  return contractIds === null ? sql`true` : sql`o.contract_id = any (${contractIds}::int[])`;
}

function matching({ filter, condition }: Book): RawBuilder<unknown> {
  const { chainId, tokenId, maker, status } = filter;
  const ofToken = tokenId === null ? sql`` : sql`and o.token_id = ${tokenId}`;
  const ofMaker = maker === null ? sql`` : sql`and o.maker = decode(${maker.slice(2)}, 'hex')`;
  return sql`
    ${isOpen} and o.chain_id = ${chainId} and o.status = ${status} ${ofToken} ${ofMaker} and ${condition}`;
}

function beyond(sort: OrderSort, after: OrderKey | null): RawBuilder<unknown> {
  if (after === null) return sql``;
  const than = sort === "price_asc" ? sql`>` : sql`<`;
  const value =
    sort === "created_at"
      ? sql`timestamptz 'epoch' + ${Number(after.value)}::float8 * interval '1 microsecond'`
      : sql`${after.value}::numeric`;
  return sql`and (o.${sortColumn(sort)}, o.position) ${than} (${value}, ${after.position}::bigint)`;
}

function sortColumn(sort: OrderSort): RawBuilder<unknown> {
  return sort === "created_at" ? sql.ref("created_at") : sql.ref("unit_price_wei");
}
