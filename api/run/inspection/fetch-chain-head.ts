import { type HeadReading, openHeadReader } from "#jobs/chain/fetch-head.ts";
import type { ChainConfig } from "#ops/config/config.ts";

export type FetchChainHead = (chain: ChainConfig) => Promise<HeadReading>;

/** The head of a chain now, and the faults of its nodes. */
export function fetchChainHead({ chainId, rpcUrls }: ChainConfig): Promise<HeadReading> {
  return openHeadReader({ chainId, rpcUrls, timeoutMs: 5_000, maxAgeMs: 0, staleBlocks: 10 })();
}
