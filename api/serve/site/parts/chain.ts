import { zeroAddress } from "viem";
import type { ChainId } from "#chains/index.ts";
import { presentCurrency } from "#api/serve/views/money.ts";

/** Symbol of a chain's own coin. */
export function coinOf(chainId: ChainId): string {
  return presentCurrency(chainId, zeroAddress).symbol ?? "";
}
