import type { Hex } from "viem";
import type { ChainId } from "../../../chains/index.ts";
import type { InspectedConfig } from "./inspected-config.ts";

/** Block explorers. Not in `abis/`: a change there makes Ponder index again. */
const explorers: Record<ChainId, string> = {
  1: "https://etherscan.io",
  33139: "https://apescan.io",
};

/** Links to a block explorer; null for local chains. */
export function linksOf(
  { localChains, chains }: InspectedConfig,
  { chainId, block, transaction }: { chainId: number; block: bigint; transaction: Hex | null },
): { block: string; transaction: string | null } | null {
  const chain = chains.find((one) => one.chainId === chainId);
  const isLocal = chain?.rpcUrls.some((url) => /^https?:\/\/(localhost|127\.|\[::1\])/.test(url));
  if (localChains || isLocal || chain === undefined) return null;
  const explorer = explorers[chain.chainId];
  return {
    block: `${explorer}/block/${block}`,
    transaction: transaction === null ? null : `${explorer}/tx/${transaction}`,
  };
}
