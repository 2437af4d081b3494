import type { AbiEvent, Hex } from "viem";

/**
 * Whether a log has as many topics as an event: ERC-721's Transfer, ERC-20's and one of which nothing is indexed have one
 * signature. null stands for a topic that a log lacks.
 */
export function hasTopicsOf({ inputs }: AbiEvent, topics: readonly (Hex | null)[]): boolean {
  const indexed = inputs.filter((input) => input.indexed);
  return topics.filter((topic) => topic !== null).length === 1 + indexed.length;
}
