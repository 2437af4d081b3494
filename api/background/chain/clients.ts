import { createPublicClient, defineChain, fallback, type Hex, numberToHex } from "viem";
import { currencies } from "#chains/coins.ts";
import { type ChainId, chainById } from "#chains/index.ts";
import { parseBlockHeader } from "./block-header.ts";
import { createContractHealth } from "./calls/contract-health.ts";
import { countedHttp } from "./count-calls.ts";
import { requestBatch } from "./rpc-batch.ts";

type ChainOptions = {
  chainId: ChainId;
  /** At least one; later ones are used when earlier ones fail. */
  rpcUrls: readonly string[];
  timeoutMs?: number;
};

/** Client for reads of one chain, without requests at creation. Off-chain lookups (EIP-3668) are disabled. */
export function openChainClient({ chainId, rpcUrls, timeoutMs = 10_000 }: ChainOptions) {
  const nativeCurrency = { ...currencies[chainById(chainId).coin], decimals: 18 };
  return createPublicClient({
    chain: defineChain({
      id: chainId,
      name: `chain ${chainId}`,
      nativeCurrency,
      rpcUrls: { default: { http: rpcUrls } },
    }),
    transport: fallback(
      rpcUrls.map((url) => countedHttp({ chainId, url }, timeoutMs)),
      { retryCount: 2 },
    ),
    ccipRead: false,
    cacheTime: 0,
  }).extend(() => ({ chainId, rpcUrls, timeoutMs, health: createContractHealth() }));
}

export type ChainClient = ReturnType<typeof openChainClient>;

/** The chain's block hash at each height; null without such a block. Throws `RpcFailure`. */
export async function fetchCanonicalHashes(
  client: ChainClient,
  numbers: readonly bigint[],
): Promise<Map<bigint, Hex | null>> {
  const calls = numbers.map((number) => ({
    method: "eth_getBlockByNumber",
    params: [numberToHex(number), false],
  }));
  const answers = await requestBatch(client, calls);
  return new Map(
    numbers.map((number, index) => [
      number,
      parseBlockHeader(client.chainId, answers[index], number)?.hash ?? null,
    ]),
  );
}

/** Fetches a block's hash; null without such a block, undefined when the RPC fails. */
export function openHashReader(
  options: ChainOptions,
): (number: number) => Promise<Hex | null | undefined> {
  const client = openChainClient(options);
  return async (number) => {
    const hashes = await fetchCanonicalHashes(client, [BigInt(number)]).catch(() => undefined);
    return hashes?.get(BigInt(number));
  };
}
