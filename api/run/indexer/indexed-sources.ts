import type { Address } from "viem";
import { type ChainId, seaportDeploymentBlock } from "../../../abis/deployments.ts";
import type { ChainConfig, Config } from "../config/config.ts";

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

/**
 * From the first block named. Without one the exchange is read from its deployment on, and transfers from the oldest
 * curated contract's, which may be older.
 */
export function indexedSources(
  { chainId, startBlock, collections, wrappedNativeEvents }: ChainConfig,
  curated: Config["curated"],
): IndexedSources {
  const known = curated.collections.filter((collection) => collection.chainId === chainId);
  const addresses = known.flatMap(({ contracts }) => contracts);
  const exchangeBlock = seaportDeploymentBlock[chainId];
  const deployments = known.map(({ fromBlock }) => fromBlock ?? exchangeBlock);
  return {
    chainId,
    startBlock: startBlock ?? exchangeBlock,
    transfersStartBlock: startBlock ?? Math.min(exchangeBlock, ...deployments),
    collections: collections === "all" ? "*" : sortedUnique([...addresses, ...collections]),
    wrappedNative: wrappedNativeEvents,
  };
}

function sortedUnique(addresses: Address[]): Address[] {
  return [...new Set(addresses)].toSorted();
}
