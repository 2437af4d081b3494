import type { Address } from "viem";
import { type ChainId, chainById } from "#chains/index.ts";
import type { Environment } from "./environment.ts";

export type ChainConfig = {
  chainId: ChainId;
  rpcUrls: string[];
  wsUrl: string | null;
  /** Null: each source from its own first block. */
  startBlock: number | null;
  /** Block range of one `eth_getLogs`; null: adapted to what the RPC accepts. */
  logsBlockRange: number | null;
  finalityBlocks: number;
  /** Every collection, or the curated ones and these. */
  collections: "all" | Address[];
  /** Whether deposits, withdrawals and transfers of the wrapped native currency are indexed. */
  wrappedNativeEvents: "all" | "none";
};

export function shapeChain(env: Environment, chainId: ChainId, local: boolean): ChainConfig {
  const collections = env[`COLLECTIONS_${chainId}`];
  const wrappedByDefault = local ? "all" : chainById(chainId).indexed.wrappedNativeEvents;
  return {
    chainId,
    rpcUrls: env[`RPC_URL_${chainId}`] ?? [],
    wsUrl: env[`WS_URL_${chainId}`] ?? null,
    startBlock: env[`START_BLOCK_${chainId}`] ?? (local ? 0 : null),
    logsBlockRange: env[`LOGS_BLOCK_RANGE_${chainId}`] ?? null,
    finalityBlocks: env[`FINALITY_${chainId}`],
    collections: collections === "*" ? "all" : collections,
    wrappedNativeEvents: env[`WRAPPED_NATIVE_EVENTS_${chainId}`] ?? wrappedByDefault,
  };
}
