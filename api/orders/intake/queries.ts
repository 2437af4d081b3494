import type { Address, Hex } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { ChainQuery } from "#jobs/chain/chain-query.ts";
import type { ChainResults } from "#jobs/chain/query-chain.ts";
import { recipientsQuery, transferQueries } from "#jobs/orders/evaluate-order.ts";
import { readKnownContracts } from "#projections/collections/find-collection.ts";
import type { OrderQuotas } from "#projections/domain/orders/order-quotas.ts";
import type { Database } from "#projections/log/database.ts";
import { readOpenBidsWei } from "#projections/orders/read-bids.ts";
import {
  type NativeListing,
  readCheaperNativeListings,
  readListings,
} from "#projections/orders/read-listings.ts";
import type { TokenSet } from "#projections/tokens/read-token.ts";
import { type RoyaltyCase, readRoyaltyCases, royaltyQueries } from "../royalty.ts";
import { readStoredQuotas, type StoredQuotas } from "./makers.ts";
import type { PendingOrder } from "./parse.ts";
import type { BatchTotals } from "./quotas.ts";

/** What an order is validated against. */
export type ValidationContext = {
  stored: StoredContext;
  quotas: OrderQuotas;
  results: ChainResults;
  /** Tokens without an owner on the chain that the log saw burned. */
  burnedTokens: TokenSet;
  /** Totals of the orders accepted before it in the same batch. */
  batchTotals: BatchTotals;
  /** Whether every NFT contract of the chain is indexed. */
  indexesAllContracts: boolean;
};

/** A cheaper listing that the maker signed before. */
type CheaperListing = NativeListing & { counter: bigint };

/** Stored data that orders are validated against. */
export type StoredContext = {
  royaltyCases: ReadonlyMap<Hex, RoyaltyCase>;
  contracts: ReadonlyMap<Address, "erc721" | "erc1155" | null>;
  cheaper: readonly CheaperListing[];
  openBidsWei: ReadonlyMap<Address, bigint>;
  quotas: StoredQuotas;
};

/** All of `pendingOrders` are on one chain. */
export async function readStoredContext(
  db: Database,
  chainId: ChainId,
  { pendingOrders, quotas }: { pendingOrders: readonly PendingOrder[]; quotas: OrderQuotas },
  now: Date,
): Promise<StoredContext> {
  const orders = pendingOrders.map(({ order }) => order);
  const bids = orders.filter(({ side }) => side === "bid");
  const bidders = [...new Set(bids.map(({ components }) => components.offerer))];
  const named = orders.map(({ contract }) => contract);
  const quotaOrders = { submitted: pendingOrders, contractQuota: quotas.contract };
  const [royaltyCases, contracts, cheaper, openBidsWei, storedQuotas] = await Promise.all([
    readRoyaltyCases(db, chainId, orders),
    readKnownContracts(db, chainId, named),
    readCheaperListings(db, chainId, pendingOrders, now),
    Promise.all(bidders.map((maker) => readOpenBidsWei(db, chainId, maker, now))),
    readStoredQuotas(db, chainId, quotaOrders, now),
  ]);
  return {
    royaltyCases: pairUp(
      orders.map(({ orderHash }) => orderHash),
      royaltyCases,
    ),
    contracts,
    cheaper,
    openBidsWei: pairUp(bidders, openBidsWei),
    quotas: storedQuotas,
  };
}

function pairUp<Key, Value>(keys: readonly Key[], values: readonly Value[]): Map<Key, Value> {
  return new Map(keys.map((key, index) => [key, values[index] as Value]));
}

/** Only for ERC-721: units of an ERC-1155 token may be listed at several prices. */
async function readCheaperListings(
  db: Database,
  chainId: ChainId,
  pendingOrders: readonly PendingOrder[],
  now: Date,
): Promise<CheaperListing[]> {
  const listings = pendingOrders.flatMap(({ order }) => {
    const { side, standard, components, contract, tokenId, unitPriceWei } = order;
    if (side !== "ask" || standard !== "erc721" || tokenId === null) return [];
    return [{ maker: components.offerer, contract, tokenId, unitPriceWei }];
  });
  if (listings.length === 0) return [];
  const own = await readCheaperNativeListings(db, chainId, listings, now);
  if (own.length === 0) return [];
  const hashes = own.map(({ orderHash }) => orderHash);
  const rows = await readListings(db, chainId, hashes, now);
  const counters = new Map(rows.map(({ orderHash, counter }) => [orderHash, counter]));
  return own.flatMap((one) => {
    const counter = counters.get(one.orderHash);
    return counter === undefined ? [] : [{ ...one, counter }];
  });
}

/** All chain state that an order is validated against. */
export function admissionQueries(pending: PendingOrder, stored: StoredContext): ChainQuery[] {
  const { order } = pending;
  const { components, orderHash, contract } = order;
  const royaltyCase = stored.royaltyCases.get(orderHash);
  return [
    { kind: "counter_read", maker: components.offerer },
    { kind: "order_status_read", orderHash },
    { kind: "standard", contract },
    ...(royaltyCase === undefined ? [] : royaltyQueries([royaltyCase])),
    ...signatureQueries(pending),
    recipientsQuery(order),
    ...(order.side === "ask" ? listingQueries(pending) : bidQueries(pending)),
    ...ownCheaperListings(pending, stored.cheaper).map(
      (one) => ({ kind: "order_status_read", orderHash: one.orderHash }) as const,
    ),
  ];
}

function signatureQueries({ order, signatureCheck }: PendingOrder): ChainQuery[] {
  if (signatureCheck.signedBy === "maker") return [];
  const { orderHash, components, signature } = order;
  const maker = components.offerer;
  return [
    { kind: "code", address: maker },
    { kind: "signature_read", orderHash, maker, order: { components, signature } },
  ];
}

function listingQueries({ order }: PendingOrder): ChainQuery[] {
  const { contract, tokenId, standard, components } = order;
  if (tokenId === null) return [];
  return Object.values(transferQueries({ contract, tokenId, standard }, components.offerer));
}

function bidQueries({ order, terms }: PendingOrder): ChainQuery[] {
  const { contract, tokenId, standard, components } = order;
  const money = { currency: terms.currency, owner: components.offerer };
  return [
    { kind: "balance_read", ...money },
    { kind: "allowance_read", ...money },
    ...(tokenId !== null && standard === "erc721"
      ? [{ kind: "owner_read", contract, tokenId } as const]
      : []),
  ];
}

/** The maker's own open listings of the same token at a lower price. */
export function ownCheaperListings(
  { order }: PendingOrder,
  cheaper: readonly CheaperListing[],
): CheaperListing[] {
  const { side, components, contract, tokenId, unitPriceWei } = order;
  if (side !== "ask") return [];
  return cheaper.filter(
    (one) =>
      one.maker === components.offerer &&
      one.contract === contract &&
      one.tokenId === tokenId &&
      one.unitPriceWei < unitPriceWei,
  );
}
