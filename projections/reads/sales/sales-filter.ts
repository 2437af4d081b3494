import type { RequestedTrait, TraitKeys } from "../traits/token-bitmaps.ts";
import type { TradeFilter } from "./trade-filter.ts";

export type SalesFilter = {
  chainId: number;
  /** null: the whole chain. */
  contractIds: readonly number[] | null;
  tokenId: bigint | null;
  /** Traits that the token must have, and the keys of each, any of them; without contracts of the whole chain. */
  traits: readonly RequestedTrait[];
  traitKeys: TraitKeys;
  trade: TradeFilter;
};
