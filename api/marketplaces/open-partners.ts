import type { Config } from "../config.ts";
import { openMagiceden } from "./magiceden/open-magiceden.ts";
import { openOpensea } from "./opensea/open-opensea.ts";
import type { Partner } from "./partner.ts";
import type { Patience } from "./transport.ts";

/** The partners that are configured. Each process that opens them has budgets of its own. */
export function openPartners(
  { opensea, magiceden }: Pick<Config["partners"], "opensea" | "magiceden">,
  patience: Patience,
): Partner[] {
  return [
    ...(opensea === null ? [] : [openOpensea({ ...opensea, patience })]),
    ...(magiceden === null ? [] : [openMagiceden({ ...magiceden, patience })]),
  ];
}
