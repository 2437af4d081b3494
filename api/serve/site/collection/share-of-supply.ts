import type { z } from "zod";
import type { Collection } from "#api/serve/views/collection.ts";

type Supplied = Pick<z.output<typeof Collection>, "contracts" | "stats">;

/** The part of a collection's token ids that so many are. Null: it has none, or its supply is of units, as with ERC-1155. */
export function shareOfSupply({ contracts, stats }: Supplied, tokenIds: number): number | null {
  const hasUnits = contracts.some(({ standard }) => standard === "erc1155");
  return hasUnits || stats.supply === 0 ? null : tokenIds / stats.supply;
}
