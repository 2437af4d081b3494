import { concatHex, type Hex, keccak256, numberToHex } from "viem";

/** A trait that tokens must have: a value as text, or a number within bounds, both included. */
export type OfferTrait =
  | { readonly type: string; readonly value: string }
  | { readonly type: string; readonly min?: string; readonly max?: string };

/** The tokens of a bid on several, and the traits by which they were chosen. Ids are decimal strings. */
export type PlannedCriteria = {
  readonly tokenIds: readonly string[];
  readonly traits?: readonly OfferTrait[];
};

/** The most tokens that one order, or all orders of a request, may be for. */
const mostCriteriaTokens = 10_000;

/** Seaport's Merkle root of token ids: leaves keccak256(uint256 id), pairs hashed in ascending order, odd ones carried up. */
export function criteriaRoot(tokenIds: readonly string[]): bigint {
  let level = tokenIds.map((id) => keccak256(numberToHex(BigInt(id), { size: 32 }))).sort();
  while (level.length > 1) level = pairUp(level);
  return BigInt(level[0] ?? 0);
}

function pairUp(level: readonly Hex[]): Hex[] {
  return level.flatMap((node, place) => {
    if (place % 2 === 1) return [];
    const sibling = level[place + 1];
    return sibling === undefined ? [node] : [keccak256(concatHex([node, sibling].sort()))];
  });
}

/** Consecutive parts of at most `most`, whose tokens together are at most those of one order. */
export function* partsOf<Item>(
  items: readonly Item[],
  most: number,
  tokensOf: (item: Item) => number,
): Generator<{ start: number; part: readonly Item[] }> {
  let [start, tokens] = [0, 0];
  for (const [index, item] of items.entries()) {
    const isFull = index - start >= most || tokens + tokensOf(item) > mostCriteriaTokens;
    if (isFull && index > start) {
      yield { start, part: items.slice(start, index) };
      [start, tokens] = [index, 0];
    }
    tokens += tokensOf(item);
  }
  if (start < items.length) yield { start, part: items.slice(start) };
}
