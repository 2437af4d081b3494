import type { Address } from "viem";
import type { ChainId } from "../../abis/deployments.ts";
import type { ChainConfig, Config } from "../config.ts";

/** What is indexed of a chain. Two configurations with equal sources share a Ponder schema. */
export type IndexedSources = {
  chainId: ChainId;
  /** First block of the exchange, its approvals and the wrapped native currency. */
  startBlock: number;
  /** First block of the collections' transfers. */
  transfersStartBlock: number;
  collections: "*" | Address[];
  wrappedNative: "all" | "none";
};

/** Transfers are read from the oldest curated contract on, which may be older than the exchange. */
export function indexedSources(
  { chainId, startBlock, collections, wrappedNativeEvents }: ChainConfig,
  curated: Config["curated"],
): IndexedSources {
  const known = curated.collections.filter((collection) => collection.chainId === chainId);
  const addresses = known.flatMap(({ contracts }) => contracts);
  return {
    chainId,
    startBlock,
    transfersStartBlock: Math.min(
      startBlock,
      ...known.map(({ fromBlock }) => fromBlock ?? startBlock),
    ),
    collections: collections === "all" ? "*" : sortedUnique([...addresses, ...collections]),
    wrappedNative: wrappedNativeEvents,
  };
}

function sortedUnique(addresses: Address[]): Address[] {
  return [...new Set(addresses)].toSorted();
}
