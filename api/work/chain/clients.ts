import { createPublicClient, defineChain, fallback, type Hex, http, numberToHex } from "viem";
import type { ChainId } from "../../../abis/deployments.ts";
import { blockOf } from "./block-header.ts";
import { requestBatch } from "./rpc-batch.ts";

type ChainOptions = {
  chainId: ChainId;
  /** At least one; the later ones are asked when the earlier fail. */
  rpcUrls: readonly string[];
  timeoutMs?: number;
};

const nativeCurrencies: Record<ChainId, { name: string; symbol: string; decimals: number }> = {
  1: { name: "Ether", symbol: "ETH", decimals: 18 },
  33139: { name: "ApeCoin", symbol: "APE", decimals: 18 },
};

/** Reads of one chain. Nothing is asked before the first read. Never follows a contract's word to another server (EIP-3668). */
export function openChain({ chainId, rpcUrls, timeoutMs = 10_000 }: ChainOptions) {
  const nativeCurrency = nativeCurrencies[chainId];
  return createPublicClient({
    chain: defineChain({
      id: chainId,
      name: `chain ${chainId}`,
      nativeCurrency,
      rpcUrls: { default: { http: rpcUrls } },
    }),
    transport: fallback(
      rpcUrls.map((url) => http(url, { timeout: timeoutMs, retryCount: 0 })),
      { retryCount: 2 },
    ),
    ccipRead: false,
    cacheTime: 0,
  }).extend(() => ({ chainId, rpcUrls, timeoutMs }));
}

export type ChainClient = ReturnType<typeof openChain>;

/** The hash of the chain's block at each height; null where the chain has no such block. Throws `RpcFailure`. */
export async function canonicalHashes(
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
      blockOf(client.chainId, answers[index], number)?.hash ?? null,
    ]),
  );
}

/** Reads the hash of a chain's block; null where it has none, undefined while it cannot be asked. */
export function openHashReader(
  options: ChainOptions,
): (number: number) => Promise<Hex | null | undefined> {
  const client = openChain(options);
  return async (number) => {
    const hashes = await canonicalHashes(client, [BigInt(number)]).catch(() => undefined);
    return hashes?.get(BigInt(number));
  };
}
