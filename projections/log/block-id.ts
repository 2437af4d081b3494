import { type RawBuilder, sql } from "kysely";
import { ordinalOf } from "#chains/index.ts";

/**
 * A block's id carries its chain, its height and which of the blocks seen at that height it is:
 * the chain's ordinal (19 bits) · number (32 bits) · fork (12 bits). Ordering by block id orders a chain's live blocks by
 * height, and one chain's blocks are one range. `log.add_staged_blocks` makes them. Statements compare heights of one chain
 * by `block_id >> 12`; which bits the chain has is known here and there alone.
 */
const FORK_BITS = 12n;
const NUMBER_BITS = 32n;

/** The smallest block id of a height. */
export function firstBlockId(chainId: number, number: bigint): bigint {
  return blockIdRange(chainId).from | (number << FORK_BITS);
}

/** Block ids of a chain: from, inclusive, up to, exclusive. */
export function blockIdRange(chainId: number): { from: bigint; to: bigint } {
  const ordinal = BigInt(ordinalOf(chainId));
  const bits = NUMBER_BITS + FORK_BITS;
  return { from: ordinal << bits, to: (ordinal + 1n) << bits };
}

/** SQL: the height of a block id. */
export const blockNumberOf = (blockId: RawBuilder<unknown>): RawBuilder<bigint> => sql<bigint>`(
  (${blockId} >> ${sql.lit(Number(FORK_BITS))}) & ${sql.lit(2 ** Number(NUMBER_BITS) - 1)}::bigint)`;
