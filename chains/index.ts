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
/** What the account API is about (`api/serve/nft-data`). */
export const accountChain = apechain;

/** Ids of blocks have 19 bits for the chain (`projections/log/block-id.ts`). */
const idsBelow = 2 ** 19;

/** Throws at the start, not with the first block. */
export function assertStorable(list: readonly Chain[]): void {
  for (const [index, { id, name }] of list.entries()) {
    const isUnique = list.findIndex((chain) => chain.id === id) === index;
    if (!isUnique || !Number.isInteger(id) || id < 1 || id >= idsBelow)
      throw new RangeError(`chain ${name}: id ${id} is no unique number from 1 to ${idsBelow - 1}`);
  }
}
assertStorable(chains);

const byId = new Map<number, Chain>(chains.map((chain) => [chain.id, chain]));

export function chainById(id: ChainId): Chain {
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
