import type { Address } from "viem";
import type { TokenOfContract } from "#projections/tokens/read-token.ts";
import type { ChainResults } from "#jobs/chain/query-chain.ts";

/** The tokens whose contract was asked for their owner and named none: never minted, or burned. */
export function findOwnerless(
  tokens: readonly { contract: Address; tokenId: bigint | null }[],
  results: ChainResults,
): TokenOfContract[] {
  return tokens.flatMap(({ contract, tokenId }) => {
    if (tokenId === null) return [];
    const answer = results.find({ kind: "owner_read", contract, tokenId });
    return answer?.owner === null ? [{ contract, tokenId }] : [];
  });
}
