import { createClient, defineChain, http, publicActions, testActions, walletActions } from "viem";
import { currencies } from "../chains/coins.ts";
import { type ChainId, chainById } from "../chains/index.ts";

function chainAt({ chainId, rpcUrl }: { chainId: ChainId; rpcUrl: string }) {
  const { id, name, coin } = chainById(chainId);
  const nativeCurrency = { ...currencies[coin], decimals: 18 };
  return defineChain({ id, name, nativeCurrency, rpcUrls: { default: { http: [rpcUrl] } } });
}

/** Mining thousands of blocks takes a busy machine longer than viem's ten seconds. */
const timeout = 120_000;

/** Reads, sends and drives one local chain. Never follows a contract's word to another server (EIP-3668). */
export function connect(anvil: { chainId: ChainId; rpcUrl: string }) {
  return createClient({
    chain: chainAt(anvil),
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
