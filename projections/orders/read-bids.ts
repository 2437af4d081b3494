import { type RawBuilder, sql } from "kysely";
import type { Address, Hex } from "viem";
import type { BidReason } from "../domain/orders/order-status.ts";
import type { Database } from "../log/database.ts";
import { bytea, byteaArray } from "../log/sql-values.ts";
import {
  type OrderFilter,
  type OrderQuery,
  type OrderSlice,
  type OrderSort,
  readHashedOrderPage,
  readOrderPage,
} from "./read-order-page.ts";
import {
  allOrderParts,
  collectionJoins,
  hasEnded,
  type OrderParts,
  type OrderRow,
  orderColumns,
  readOrdersByHash,
} from "./read-orders.ts";

/** A bid and its state at a given time. */
export type BidRow = OrderRow & {
  kind: "single-token" | "collection";
  /** null: any token of the contract. */
  tokenId: bigint | null;
  currency: Hex;
  reason: BidReason | null;
};

export async function readBid(
  db: Database,
  chainId: number,
  orderHash: Hex,
  now: Date,
): Promise<BidRow | null> {
  return (await readBids(db, chainId, [orderHash], now))[0] ?? null;
}

/** Those of the orders that are bids, unsorted. */
export async function readBids(
  db: Database,
  chainId: number,
  orderHashes: readonly Hex[],
  now: Date,
  parts: OrderParts = allOrderParts,
): Promise<BidRow[]> {
  return readOrdersByHash(
    db,
    { schema: "bids", columns: bidColumns(now, parts) },
    chainId,
    orderHashes,
  );
}

/** Of row `o` joined with `collectionJoins`. */
export function bidColumns(now: Date, parts: OrderParts = allOrderParts) {
  return sql`${orderColumns(now, parts)}, o.kind, o.token_id as "tokenId", o.currency`;
}

export type BidFilter = OrderFilter & {
  /** null: both. */
  kind: BidRow["kind"] | null;
};

type PageQuery = Parameters<typeof pageOfBids>;

/** A page of bids, and how many match the filter. */
export const readBidPage = (db: Database, ...query: PageQuery) =>
  readOrderPage<BidRow>(db, ...pageOfBids(...query));

export const readHashedBidPage = (db: Database, ...query: PageQuery) =>
  readHashedOrderPage(db, ...pageOfBids(...query));

function pageOfBids(
  filter: BidFilter,
  sort: OrderSort,
  slice: OrderSlice,
  now: Date,
  parts: OrderParts = allOrderParts,
) {
  const ofKind = filter.kind === null ? sql`true` : sql`kind = ${filter.kind}`;
  const query: OrderQuery = {
    schema: "bids",
    filter,
    condition: ofKind,
    countCondition: ofKind,
    marketplaces: null,
  };
  const columns = bidColumns(now, parts);
  return [
    { total: query, page: query },
    { columns, sort, slice, now },
  ] as const;
}

/** `limit` for each kind of bids; `except`: none of these orders. */
type Limits = { limit: number; except?: readonly Hex[] };

/** `readBestBidsOf` the contract at an address, for a seller; none for an unknown contract. */
export async function readBestBids(
  db: Database,
  {
    chainId,
    contract,
    tokenId,
    seller,
  }: {
    chainId: number;
    contract: Address;
    tokenId: bigint;
    seller: Address;
  },
  limits: Limits,
  now: Date,
): Promise<BidRow[]> {
  const { rows } = await sql<{ contractId: number }>`
    select contract_id as "contractId" from log.contract
    where chain_id = ${chainId} and address = ${bytea(contract)}`.execute(db);
  const [known] = rows;
  return known === undefined ? [] : readBestBidsOf(db, { ...known, tokenId, seller }, limits, now);
}

/**
 * Active bids that a token's holder can accept, by net proceeds: at most `limit` on the token and as many on its
 * whole contract. Ties: bids on the token first, then older ones. A seller's own bids are left out.
 */
export async function readBestBidsOf(
  db: Database,
  { contractId, tokenId, seller }: { contractId: number; tokenId: bigint; seller?: Address },
  { limit, except = [] }: Limits,
  now: Date,
): Promise<BidRow[]> {
  const isOther =
    except.length === 0 ? sql`` : sql`and o.order_hash <> all (${byteaArray(except)})`;
  const ofOthers = seller === undefined ? sql`` : sql`and o.maker <> ${bytea(seller)}`;
  const wanted = { isWanted: sql`not ${hasEnded(now)} ${ofOthers} ${isOther}`, limit };
  const contract = sql`${contractId}`;
  const { rows } = await sql<BidRow>`
    with best as (
      ${bestBidsOnToken({ contractId: contract, tokenId: sql`${tokenId}` }, wanted)}
      union all ${bestBidsOnContract(contract, wanted)}
    )
    select ${bidColumns(now)} from best o ${collectionJoins}
    order by o.seller_net_wei desc, o.token_id is null, o.position`.execute(db);
  return rows;
}

/** SQL: a condition on bid `o`, and how many of each kind. */
type WantedBids = { isWanted: RawBuilder<unknown>; limit: number };

/** SQL: rows of `bids.bid`: the best active bids for the seller of a token that are for it and not for all of its contract. */
export function bestBidsOnToken(
  { contractId, tokenId }: { contractId: RawBuilder<unknown>; tokenId: RawBuilder<unknown> },
  { isWanted, limit }: WantedBids,
): RawBuilder<unknown> {
  return sql`(
    select o.* from bids.bid o
    where o.contract_id = ${contractId} and o.token_id = ${tokenId} and o.status = 'active' and ${isWanted}
    order by o.seller_net_wei desc, o.position limit ${limit}
  )`;
}

/** SQL: rows of `bids.bid`: the best active bids for a seller on every token of a contract. */
export function bestBidsOnContract(
  contractId: RawBuilder<unknown>,
  { isWanted, limit }: WantedBids,
): RawBuilder<unknown> {
  // The first of the order says which index: others hold the bids on each token too.
  return sql`(
    select o.* from bids.bid o
    where o.contract_id = ${contractId} and o.token_id is null and o.status = 'active' and ${isWanted}
    order by o.token_id, o.seller_net_wei desc, o.position limit ${limit}
  )`;
}

/** Wei of wrapped currency that a maker's bids may still spend: those active, and those that only lack allowance. */
export async function readOpenBidsWei(
  db: Database,
  chainId: number,
  maker: Address,
  now: Date,
): Promise<bigint> {
  const { rows } = await sql<{ wei: bigint }>`
    select coalesce(sum(o.unit_price_wei * (o.quantity - o.filled)), 0) as wei
    from bids.bid o
    where o.maker = ${bytea(maker)} and o.chain_id = ${chainId}
      and o.status in ('active', 'inactive')
      and (o.status = 'active' or o.reason = 'insufficient_allowance') and not ${hasEnded(now)}`.execute(
    db,
  );
  return rows[0]?.wei ?? 0n;
}
