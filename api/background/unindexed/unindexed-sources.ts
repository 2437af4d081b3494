import type { Address } from "viem";
import type { Database } from "#projections/log/database.ts";
import type { ChainClient } from "#jobs/chain/client.ts";
import { bidderFunds } from "./bidder-funds.ts";
import { collectionTransfers } from "./collection-transfers.ts";
import type { FollowedSource } from "./followed-source.ts";

type Indexed = {
  wrappedNativeEvents: "all" | "none";
  /** Contracts whose transfers are indexed as they happen; null: all. */
  readIndexedCollections: (() => Promise<readonly Address[]>) | null;
};

/** What open orders of a chain depend on and its configuration leaves out of the index. */
export function unindexedSources(
  db: Database,
  client: ChainClient,
  { wrappedNativeEvents, readIndexedCollections }: Indexed,
): FollowedSource[] {
  return [
    ...(wrappedNativeEvents === "none" ? [bidderFunds(db, client)] : []),
    ...(readIndexedCollections === null
      ? []
      : [collectionTransfers(db, client, readIndexedCollections)]),
  ];
}
