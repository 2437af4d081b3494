import type { Address, Hex } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { Database } from "#projections/log/database.ts";
import type { OrderQuotas } from "#projections/domain/orders/order-quotas.ts";
import { readOpenBidsWei } from "#projections/orders/read-bids.ts";
import { readKnownContracts } from "#projections/collections/find-collection.ts";
import { type NativeListing, readCheaperNativeListings, readListings } from "#projections/orders/read-listings.ts";
import { type RoyaltyCase, readRoyaltyCases } from "../market/royalty.ts";
import { readStoredQuotas, type StoredQuotas } from "../quotas/stored-quotas.ts";
import type { PendingOrder } from "./pending-order.ts";

/** A cheaper listing that the maker signed before. */
export type CheaperListing = NativeListing & { counter: bigint };

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
