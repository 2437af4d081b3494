import { type Address, formatEther, zeroAddress } from "viem";
import { type ChainId, wrappedNative } from "../../../chains/index.ts";

const symbols: Record<ChainId, { native: string; wrapped: string }> = {
  1: { native: "ETH", wrapped: "WETH" },
  33139: { native: "APE", wrapped: "WAPE" },
};

/** A price's currency; only the native and the wrapped native currency have a symbol. */
export function presentCurrency(chainId: ChainId, address: Address) {
  const { native, wrapped } = symbols[chainId];
  if (address === zeroAddress) return { symbol: native, address };
  return { symbol: address === wrappedNative[chainId] ? wrapped : null, address };
}

/** The address of a symbol of `presentCurrency`; undefined for another one. */
export function currencyOfSymbol(chainId: ChainId, symbol: string): Address | undefined {
  const { native, wrapped } = symbols[chainId];
  if (symbol === native) return zeroAddress;
  return symbol === wrapped ? wrappedNative[chainId] : undefined;
}

/**
 * `wei` divided by 10^18, for display; the exact amount is the wei field next to it. Other currencies than the native
 * and the wrapped native one have decimals of their own, which are unknown: of them it says nothing.
 */
export function displayAmount(wei: bigint): number {
  return Number(formatEther(wei));
}
