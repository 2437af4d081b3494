import { type RawBuilder, sql } from "kysely";
import type { Address, Hex } from "viem";
import type { BidReason } from "../domain/orders/order-status.ts";
import type { BidKind, CriteriaTrait } from "../domain/orders/order-terms.ts";
import { chunksOfTraits } from "../engine/trait-keys.ts";
import type { Database } from "../log/database.ts";
import { bytea, byteaArray } from "../log/sql-values.ts";
import {
  type OrderFilter,
  type OrderQuery,
  type OrderSlice,
  type OrderSort,
  type PastOrders,
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
import { bidsOnToken, holdsToken, pastBidsOnToken } from "./token-sets.ts";

/** A bid and its state at a given time. */
export type BidRow = OrderRow & {
  kind: BidKind;
  /** null: of several tokens of the contract. */
  tokenId: bigint | null;
  /** Of a bid of kind `trait` or `token-list`: the Merkle root of its tokens. */
  criteria: Hex | null;
  /** How many tokens are under the root. */
  criteriaTokens: number | null;
  /** Of kind `trait`: what its tokens had in common when it was submitted. */
  traits: readonly CriteriaTrait[] | null;
  /** How many of its tokens have the traits now. */
  matchingTokens: bigint | null;
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
  return sql`
    ${orderColumns(now, parts)}, o.kind, o.token_id as "tokenId", o.currency, o.criteria, o.traits,
    (select s.tokens from bids.token_set s where s.contract_id = o.contract_id and s.root = o.criteria) as "criteriaTokens",
    ${parts.has("traits") ? matchingTokens : sql`null::bigint`} as "matchingTokens"`;
}

/** Of bid `o`, if it is on traits: how many of its tokens have them now. */
const matchingTokens = sql`
  case when o.traits is not null then (
    select coalesce(sum(bit_count(s.bits & t.bits)), 0)::bigint
    from (${chunksOfTraits(sql`o.contract_id`, sql`o.traits`)}) t
    join bids.token_set_chunk s on s.contract_id = o.contract_id and s.root = o.criteria and s.chunk = t.chunk
  ) end`;

export type BidFilter = OrderFilter & {
  /** null: all. */
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
  past?: PastOrders,
) {
  const ofKind = filter.kind === null ? sql`true` : sql`kind = ${filter.kind}`;
  const { tokenId, contractIds } = filter;
  const bidsOfToken = (id: bigint) =>
    past === undefined ? bidsOnToken(id, contractIds ?? []) : pastBidsOnToken(past.rows, id);
  const query: OrderQuery = {
    schema: "bids",
    filter,
    rowsOfToken: tokenId === null || contractIds === null ? null : bidsOfToken(tokenId),
    condition: ofKind,
    countCondition: past === undefined ? ofKind : null,
    marketplaces: null,
    ...(past && { past }),
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
 * Active bids that a token's holder can accept, by net proceeds: at most `limit` on the token, as many on its whole contract,
 * and as many on sets of tokens that hold it. Ties: bids on the token, then on sets, then older ones. A seller's own bids are left out.
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
    order by o.seller_net_wei desc, o.token_id is null, o.criteria is null, o.position`.execute(db);
  return rows;
}

/** SQL: a condition on bid `o`, and how many of each kind. */
type WantedBids = { isWanted: RawBuilder<unknown>; limit: number };

/** SQL: rows of `bids.bid`: the best active bids for the seller of a token that are for it, or for tokens among which it is. */
export function bestBidsOnToken(
  {
    contractId,
    tokenId,
    hasSets = sql`true`,
  }: {
    contractId: RawBuilder<unknown>;
    tokenId: RawBuilder<unknown>;
    /** Whether there are bids on sets of the contract's tokens; else none are looked for. */
    hasSets?: RawBuilder<unknown>;
  },
  { isWanted, limit }: WantedBids,
): RawBuilder<unknown> {
  const ofContract = sql`o.contract_id = ${contractId} and o.status = 'active' and ${isWanted}`;
  const bestFirst = sql`order by o.seller_net_wei desc, o.position limit ${limit}`;
  return sql`(
    (select o.* from bids.bid o where ${ofContract} and o.token_id = ${tokenId} ${bestFirst})
    union all
    (select o.* from bids.bid o where ${hasSets} and ${ofContract} and o.criteria is not null and ${holdsToken(sql`${tokenId}::numeric`)} ${bestFirst})
  )`;
}

/** SQL: rows of `bids.bid`: the best active bids for a seller on every token of a contract. */
export function bestBidsOnContract(
  contractId: RawBuilder<unknown>,
  { isWanted, limit }: WantedBids,
): RawBuilder<unknown> {
  return sql`(
    select o.* from bids.bid o
    where o.contract_id = ${contractId} and o.kind = 'collection' and o.status = 'active' and ${isWanted}
    order by o.seller_net_wei desc, o.position limit ${limit}
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
