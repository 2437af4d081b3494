import { type Chain, numberToHex } from "viem";
import { apeChain, mainnet } from "viem/chains";
import type { ChainId } from "../src/chains.ts";
import { type Eip1193, rpcCodeOf } from "./wallets.ts";

/** What a wallet needs to know to add a chain. */
const known: Readonly<Record<ChainId, Chain>> = { [mainnet.id]: mainnet, [apeChain.id]: apeChain };

export const chainOf = (chainId: ChainId): Chain => known[chainId];

/** Of any chain that a wallet may be on. */
export const chainNameOf = (chainId: number): string =>
  Object.values(known).find(({ id }) => id === chainId)?.name ?? `chain ${chainId}`;

const unknownChain = 4902;

/** Asks the wallet to go to a chain; one that it does not know is described to it first. Codes: EIP-1193, EIP-3085. */
export async function switchChain(provider: Eip1193, chainId: ChainId): Promise<void> {
  const change = { method: "wallet_switchEthereumChain", params: [{ chainId: hexOf(chainId) }] };
  try {
    await provider.request(change);
  } catch (error) {
    if (rpcCodeOf(error) !== unknownChain) throw error;
    await provider.request({ method: "wallet_addEthereumChain", params: [descriptionOf(chainId)] });
    await provider.request(change);
  }
}

const hexOf = (chainId: ChainId) => numberToHex(chainId);

function descriptionOf(chainId: ChainId) {
  const { name, nativeCurrency, rpcUrls, blockExplorers } = chainOf(chainId);
  return {
    chainId: hexOf(chainId),
    chainName: name,
    nativeCurrency,
    rpcUrls: rpcUrls.default.http,
    blockExplorerUrls: [blockExplorers?.default.url ?? ""],
  };
}
