import type { Address } from "viem";
import { apechain } from "./apechain.ts";
import type { Chain } from "./chain.ts";
import { ethereum } from "./ethereum.ts";

/** The chains that there are; an installation serves those whose `RPC_URL_<id>` is set. */
export const chains = [ethereum, apechain] as const;

export type ChainId = (typeof chains)[number]["id"];

export const chainIds = chains.map(({ id }) => id);

/** The chain of a request that names none. */
export const defaultChain = ethereum;
/** Where ENS and Chainlink's prices are read. */
export const ensChain = ethereum;
/** What the account API is about (`api/account`). */
export const accountChain = apechain;

/** Numbers of a chain, and what they are below: columns of chain ids are of four bytes, ids of blocks have 19 bits for it. */
const limits = { id: 2 ** 31, ordinal: 2 ** 19 };

/** Throws at the start, not with the first block. */
export function assertStorable(list: readonly Chain[]): void {
  for (const [index, chain] of list.entries()) {
    for (const key of ["id", "ordinal"] as const) {
      const value = chain[key];
      const isUnique = list.findIndex((other) => other[key] === value) === index;
      if (!isUnique || !Number.isInteger(value) || value < 1 || value >= limits[key])
        throw new RangeError(
          `chain ${chain.name}: ${key} ${value} is no unique number from 1 to ${limits[key] - 1}`,
        );
    }
  }
}
assertStorable(chains);

const byId = new Map<number, Chain>(chains.map((chain) => [chain.id, chain]));

export const chainById = (id: ChainId): Chain => listed(id);

/** The chain's number in ids of blocks. Throws for a chain that is not in the list. */
export const ordinalOf = (id: number): number => listed(id).ordinal;

function listed(id: number): Chain {
  const chain = byId.get(id);
  if (chain === undefined) throw new RangeError(`no chain ${id} in chains/index.ts`);
  return chain;
}

/** What bids are paid in, by chain. */
export const wrappedNative = Object.fromEntries(
  chains.map(({ id, wrapped }) => [id, wrapped.address]),
) as unknown as Record<ChainId, Address>;

export const chainNames = Object.fromEntries(
  chains.map(({ id, name }) => [id, name]),
) as unknown as Record<ChainId, string>;
