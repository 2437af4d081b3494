import { type Address, type Hex, zeroAddress } from "viem";
import { sudoswapV2PairAbi } from "#abis/sudoswap.ts";
import type { PoolCoins } from "#projections/log/recording/pools-and-punks.ts";
import type { ChainClient } from "../chain/client.ts";
import {
  addressInWord,
  callContracts,
  encodeCall,
  fetchReadBasis,
  type ReadBasis,
  wordAt,
} from "../chain/contract-calls.ts";
import { RpcFailure } from "../chain/rpc.ts";

/** Pools in one request. */
const BATCH = 100;
const etherVariants = [0n, 2n];
const coinVariants = [1n, 3n];

/**
 * What pools of Sudoswap v2 are paid in, at the latest block: it is part of their code, which never changes. Null for one
 * whose answer means nothing, as for the coin with the address zero, of which transfers cost nothing. Throws `RpcFailure`
 * where a node does not answer or has no such pool yet.
 */
export async function fetchPoolCoins(
  client: ChainClient,
  pools: readonly string[],
): Promise<PoolCoins> {
  const basis = await fetchReadBasis(client);
  const coins: Record<string, string | null> = {};
  for (let start = 0; start < pools.length; start += BATCH) {
    const batch = pools.slice(start, start + BATCH) as Address[];
    const variants = await callPools(client, basis, batch, "pairVariant");
    const ofCoin = batch.filter((_, index) => isOneOf(coinVariants, variants[index]));
    const tokens = await callPools(client, basis, ofCoin, "token");
    for (const [index, pool] of batch.entries())
      coins[pool] = isOneOf(etherVariants, variants[index]) ? zeroAddress : null;
    for (const [index, pool] of ofCoin.entries()) coins[pool] = addressInWord(tokens[index]);
  }
  return coins;
}

const isOneOf = (variants: readonly bigint[], variant: bigint | undefined): boolean =>
  variant !== undefined && variants.includes(variant);

/** The first word that each returns; undefined: it reverts, or returns less. */
async function callPools(
  client: ChainClient,
  basis: ReadBasis,
  pools: readonly Address[],
  functionName: "pairVariant" | "token",
): Promise<(bigint | undefined)[]> {
  if (pools.length === 0) return [];
  const data: Hex = encodeCall({ abi: sudoswapV2PairAbi, functionName });
  const results = await callContracts(
    client,
    basis,
    pools.map((to) => ({ to, data })),
  );
  return pools.map((pool, index) => {
    const result = results[index];
    // Nothing is what an address without code returns: the node lags behind the block that created the pool.
    if (result === undefined || result === "0x")
      throw new RpcFailure(`Chain ${client.chainId} does not answer ${functionName} of ${pool}`);
    return result === null ? undefined : wordAt(result, 0);
  });
}
