import type { ChainId } from "#chains/index.ts";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import type { ChainQuery } from "#jobs/chain/chain-query.ts";
import type { ChainResults } from "#jobs/chain/query-chain.ts";
import { RpcFailure } from "#jobs/chain/rpc.ts";

type QueryChain = {
  queryChain(chainId: ChainId, queries: readonly ChainQuery[]): Promise<ChainResults>;
};

/** Queries a chain; an unavailable chain is a rejection. */
export async function queryChainOrReject(
  market: QueryChain,
  chainId: ChainId,
  queries: readonly ChainQuery[],
): Promise<ChainResults | Rejection<"rpc_unavailable">> {
  try {
    return await market.queryChain(chainId, queries);
  } catch (error) {
    if (error instanceof RpcFailure) return chainUnavailable();
    throw error;
  }
}

export function chainUnavailable(): Rejection<"rpc_unavailable"> {
  return reject("rpc_unavailable", "The chain is unavailable; try again later");
}
