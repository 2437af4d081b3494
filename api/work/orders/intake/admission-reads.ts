import type { Address, Hex } from "viem";
import type { ChainId } from "../../../../abis/deployments.ts";
import type { Database } from "../../../../projections/database.ts";
import { readOpenBidsWei } from "../../../../projections/reads/bids/read-open.ts";
import { readKnownContracts } from "../../../../projections/reads/collections/read-known-contracts.ts";
import { readListings } from "../../../../projections/reads/listings/read.ts";
import {
  type OwnListing,
  readOwnCheaperListings,
} from "../../../../projections/reads/listings/read-own.ts";
import { readOpenCounts } from "../../../../projections/reads/orders/read-open-counts.ts";
import { type RoyaltyCase, readRoyaltyCases } from "../royalty.ts";
import type { Candidate } from "./candidate.ts";

/** A listing that its maker signed before, for less. */
export type Cheaper = OwnListing & { counter: bigint };

/** What the database knows of orders that are to be taken in, besides themselves. */
export type Known = {
  royaltyCases: ReadonlyMap<Hex, RoyaltyCase>;
  contracts: ReadonlyMap<Address, "erc721" | "erc1155" | null>;
  cheaper: readonly Cheaper[];
  openBidsWei: ReadonlyMap<Address, bigint>;
  openCounts: ReadonlyMap<Address, number>;
};

/** `candidates` are of one chain. */
export async function readKnown(
  db: Database,
  chainId: ChainId,
  candidates: readonly Candidate[],
  now: Date,
): Promise<Known> {
  const orders = candidates.map(({ order }) => order);
  const makers = [...new Set(orders.map(({ components }) => components.offerer))];
  const bids = orders.filter(({ side }) => side === "bid");
  const bidders = [...new Set(bids.map(({ components }) => components.offerer))];
  const [royaltyCases, contracts, cheaper, openBidsWei, openCounts] = await Promise.all([
    readRoyaltyCases(db, chainId, orders),
    readKnownContracts(
      db,
      chainId,
      orders.map(({ contract }) => contract),
    ),
    readCheaper(db, chainId, candidates, now),
    Promise.all(bidders.map((maker) => readOpenBidsWei(db, chainId, maker, now))),
    readOpenCounts(db, chainId, makers, now),
  ]);
  return {
    royaltyCases: pairUp(
      orders.map(({ orderHash }) => orderHash),
      royaltyCases,
    ),
    contracts,
    cheaper,
    openBidsWei: pairUp(bidders, openBidsWei),
    openCounts,
  };
}

function pairUp<Key, Value>(keys: readonly Key[], values: readonly Value[]): Map<Key, Value> {
  return new Map(keys.map((key, index) => [key, values[index] as Value]));
}

/** Only of ERC-721: units of an ERC-1155 may be listed at several prices. */
async function readCheaper(
  db: Database,
  chainId: ChainId,
  candidates: readonly Candidate[],
  now: Date,
): Promise<Cheaper[]> {
  const asked = candidates.flatMap(({ order }) => {
    const { side, standard, components, contract, tokenId, unitPriceWei } = order;
    if (side !== "ask" || standard !== "erc721" || tokenId === null) return [];
    return [{ maker: components.offerer, contract, tokenId, unitPriceWei }];
  });
  if (asked.length === 0) return [];
  const own = await readOwnCheaperListings(db, chainId, asked, now);
  if (own.length === 0) return [];
  const hashes = own.map(({ orderHash }) => orderHash);
  const rows = await readListings(db, chainId, hashes, now);
  const counters = new Map(rows.map(({ orderHash, counter }) => [orderHash, counter]));
  return own.flatMap((one) => {
    const counter = counters.get(one.orderHash);
    return counter === undefined ? [] : [{ ...one, counter }];
  });
}
