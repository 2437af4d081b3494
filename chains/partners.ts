import type { Chain } from "./chain.ts";
import { type ChainId, chainById, chains } from "./index.ts";

type Partner = keyof Chain["partnerNames"];

/** The chains that a partner marketplace knows. */
export const chainsKnownTo = (partner: Partner): ChainId[] =>
  chains.map(({ id }) => id).filter((id) => chainById(id).partnerNames[partner] !== null);

/** A chain's name at a partner that knows it. */
export function chainNameAt(partner: Partner, chainId: ChainId): string {
  const name = chainById(chainId).partnerNames[partner];
  if (name === null) throw new RangeError(`${partner} does not know chain ${chainId}`);
  return name;
}

/** The chain that a partner calls so. */
export const chainCalled = (partner: Partner, name: string): ChainId | undefined =>
  chains.map(({ id }) => id).find((id) => chainById(id).partnerNames[partner] === name);
