import { LRUCache } from "lru-cache";
import {
  type Address,
  createPublicClient,
  defineChain,
  fallback,
  type Hex,
  numberToHex,
} from "viem";
import { z } from "zod";
import { currencies } from "#chains/coins.ts";
import { type ChainId, chainById } from "#chains/index.ts";
import { createCooldowns } from "../runner/limits.ts";
import { countedHttp, requestBatch } from "./node-client.ts";
import { RpcFailure, type RpcResponse } from "./rpc.ts";

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

export type BlockHeader = { number: bigint; hash: Hex; timestamp: Date };

const quantity = z
  .string()
  .regex(/^0x[0-9a-f]{1,16}$/i)
  .transform((hex) => BigInt(hex));

const Header = z.object({
  number: quantity,
  hash: z
    .string()
    .regex(/^0x[0-9a-f]{64}$/i)
    .transform((hash) => hash.toLowerCase() as Hex),
  timestamp: quantity.transform((seconds) => new Date(Number(seconds) * 1000)),
});

/** Parses the response of eth_getBlockByNumber; null without such a block. Throws `RpcFailure`. */
export function parseBlockHeader(
  chainId: number,
  answer: RpcResponse | undefined,
  expected: bigint | "latest",
): BlockHeader | null {
  if (answer === undefined || "error" in answer) {
    const message = answer?.error.message ?? "no answer";
    throw new RpcFailure(`Chain ${chainId} did not return block ${expected}: ${message}`);
  }
  if (answer.result === null) return null;
  const header = Header.safeParse(answer.result);
  if (!header.success || (expected !== "latest" && header.data.number !== expected)) {
    throw new RpcFailure(`Chain ${chainId} returned another block than ${expected}`);
  }
  return header.data;
}

/** Contracts in memory; the least recently used is dropped first. */
const maxContracts = 10_000;
/** Time without calls after a costly answer; a cheap one halves the next. */
const rest = {
  ...{ firstMs: 5_000, mostMs: 600_000 },
  ...{ failuresUntilCooldown: 1, failuresForgiven: 1 },
};

/**
 * Which contracts answered calls cheaply, and which are not called for a while as they did not. `asker`: see
 * `ExecutionOptions`; a rest of its calls is no rest of the contract.
 */
export function createContractHealth(now: () => number = () => performance.now()) {
  const cheap = new LRUCache<Address, true>({ max: maxContracts });
  const rests = createCooldowns<string>({ now, ...rest });
  const keyOf = (contract: Address, asker: string | undefined) => `${contract} ${asker ?? ""}`;
  return {
    isCoolingDown: (contract: Address, asker?: string) =>
      [undefined, asker].some((one) => rests.isCoolingDown(keyOf(contract, one))),
    isCheap: (contract: Address) => cheap.get(contract) ?? false,
    recordCheap(contract: Address, asker?: string): void {
      cheap.set(contract, true);
      rests.recordSuccess(keyOf(contract, asker));
    },
    recordCostly(contract: Address, asker?: string): void {
      cheap.delete(contract);
      rests.recordFailure(keyOf(contract, asker));
    },
    /** It is called alone the next time: one of several was costly, and nobody knows which. */
    suspect(contract: Address): void {
      cheap.delete(contract);
    },
    countCoolingDown: () => rests.coolingDown().length,
  };
}
