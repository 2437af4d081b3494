import { type Address, formatEther, zeroAddress } from "viem";
import { currencies } from "#chains/coins.ts";
import { type ChainId, chainById, wrappedNative } from "#chains/index.ts";

/** Symbols of a chain's currency and of its wrapped form. */
function symbolsOf(chainId: ChainId) {
  const { coin, wrapped } = chainById(chainId);
  return { native: currencies[coin].symbol, wrapped: wrapped.symbol };
}

/** A price's currency; only the native and the wrapped native currency have a symbol. */
export function presentCurrency(chainId: ChainId, address: Address) {
  const { native, wrapped } = symbolsOf(chainId);
  if (address === zeroAddress) return { symbol: native, address };
  return { symbol: address === wrappedNative[chainId] ? wrapped : null, address };
}

/** The address of a symbol of `presentCurrency`; undefined for another one. */
export function currencyOfSymbol(chainId: ChainId, symbol: string): Address | undefined {
  const { native, wrapped } = symbolsOf(chainId);
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
