import { z } from "zod";
import type { HolderRow } from "#projections/tokens/read-holders.ts";
import { address, uint256Text } from "./wire.ts";

/** Who holds tokens of a collection. */
export const Holder = z
  .object({
    address,
    tokens: z.int().min(1).meta({ description: "Token ids of which it holds something." }),
    units: uint256Text.meta({ description: "Units of these; of ERC-721 tokens, one each." }),
  })
  .meta({ id: "Holder" });

export function presentHolder({ owner, tokens, units }: HolderRow): z.output<typeof Holder> {
  return { address: owner, tokens: Number(tokens), units: String(units) };
}
