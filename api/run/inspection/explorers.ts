import type { Hex } from "viem";
import { chainById } from "#chains/index.ts";
import type { InspectedConfig } from "./inspected-config.ts";

/** Links to a block explorer; null for local chains. */
export function linksOf(
  { localChains, chains }: InspectedConfig,
  { chainId, block, transaction }: { chainId: number; block: bigint; transaction: Hex | null },
): { block: string; transaction: string | null } | null {
  const chain = chains.find((one) => one.chainId === chainId);
  const isLocal = chain?.rpcUrls.some((url) => /^https?:\/\/(localhost|127\.|\[::1\])/.test(url));
  if (localChains || isLocal || chain === undefined) return null;
  const { explorer } = chainById(chain.chainId);
  return {
    block: `${explorer}/block/${block}`,
    transaction: transaction === null ? null : `${explorer}/tx/${transaction}`,
  };
}
