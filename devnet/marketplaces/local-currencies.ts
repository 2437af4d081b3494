import { zeroAddress } from "viem";
import type { ChainId } from "../../chains/index.ts";
import type { StoredListing } from "./listing-store.ts";

/** Symbols of a chain's native currency and of its wrapped form. */
export const currencies: Record<ChainId, readonly [native: string, wrapped: string]> = {
  1: ["ETH", "WETH"],
  33139: ["APE", "WAPE"],
};

export const symbolOf = ({ chainId, order }: StoredListing): string => {
  const [native, wrapped] = currencies[chainId];
  return order.components.consideration[0]?.token === zeroAddress ? native : wrapped;
};
