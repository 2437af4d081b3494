import { zeroAddress } from "viem";
import type { ChainId } from "../../../../chains/index.ts";
import { presentCurrency } from "../../views/money.ts";

export const chainNames: Record<ChainId, string> = { 1: "Ethereum", 33139: "ApeChain" };

/** Symbol of a chain's own coin. */
export function coinOf(chainId: ChainId): string {
  return presentCurrency(chainId, zeroAddress).symbol ?? "";
}
