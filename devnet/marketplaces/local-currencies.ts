import { zeroAddress } from "viem";
import { currencies } from "#chains/coins.ts";
import { type ChainId, chainById } from "#chains/index.ts";
import type { StoredListing } from "./listing-store.ts";

/** Symbols of a chain's native currency and of its wrapped form. */
export function currenciesOf(chainId: ChainId): readonly [native: string, wrapped: string] {
  const { coin, wrapped } = chainById(chainId);
  return [currencies[coin].symbol, wrapped.symbol];
}

export const symbolOf = ({ chainId, order }: StoredListing): string => {
  const [native, wrapped] = currenciesOf(chainId);
  return order.components.consideration[0]?.token === zeroAddress ? native : wrapped;
};
