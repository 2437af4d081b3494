import type { Hex } from "viem";
import { z } from "zod";
import type { HolderCursor, HolderRow } from "#projections/tokens/read-holders.ts";
import { type CursorScope, cursorInteger } from "#api/http/page.ts";

export function holdersScope(chainId: number, contractIds: readonly number[]): CursorScope {
  return { list: "holders", chainId, contractIds: contractIds.join() };
}

/** An address is a number of 20 bytes. */
const ownerNumber = cursorInteger(49).refine((owner) => owner >= 0n && owner < 2n ** 160n);

/** One event (ERC-2309) gives an owner up to 2^256 ids of a contract, and a collection has several contracts. */
export const holderKey = z.tuple([cursorInteger(80), ownerNumber]).transform(
  ([tokens, owner]): HolderCursor => ({
    tokens,
    owner: `0x${owner.toString(16).padStart(40, "0")}` as Hex,
  }),
);

export function keyOfHolder({ tokens, owner }: HolderRow) {
  return [tokens, BigInt(owner)];
}
