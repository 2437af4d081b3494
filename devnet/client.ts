import {
  type Chain,
  createClient,
  defineChain,
  http,
  publicActions,
  testActions,
  walletActions,
} from "viem";
import { apeChain, mainnet } from "viem/chains";
import type { ChainId } from "../chains/index.ts";

/** Names and currencies of the real chains; addresses and endpoints come from elsewhere. */
const chains: Record<ChainId, Chain> = {
  1: defineChain({
    id: mainnet.id,
    name: mainnet.name,
    nativeCurrency: mainnet.nativeCurrency,
    rpcUrls: mainnet.rpcUrls,
  }),
  33139: defineChain({
    id: apeChain.id,
    name: apeChain.name,
    nativeCurrency: apeChain.nativeCurrency,
    rpcUrls: apeChain.rpcUrls,
  }),
};

/** Mining thousands of blocks takes a busy machine longer than viem's ten seconds. */
const timeout = 120_000;

/** Reads, sends and drives one local chain. Never follows a contract's word to another server (EIP-3668). */
export function connect(anvil: { chainId: ChainId; rpcUrl: string }) {
  return createClient({
    chain: chains[anvil.chainId],
    transport: http(anvil.rpcUrl, { retryCount: 0, timeout }),
    pollingInterval: 20,
    cacheTime: 0,
    ccipRead: false,
  })
    .extend(testActions({ mode: "anvil" }))
    .extend(publicActions)
    .extend(walletActions);
}

export type DevnetClient = ReturnType<typeof connect>;
