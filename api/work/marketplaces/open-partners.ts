import type { Config } from "../../run/config/config.ts";
import { openMagiceden } from "./magiceden/open-magiceden.ts";
import { openOpensea } from "./opensea/open-opensea.ts";
import type { Partner } from "./partner.ts";
import type { Patience } from "./transport.ts";

type Named = Config["partners"]["magiceden"];
type Configured = {
  opensea: (Named & { streamUrl?: string | null }) | null;
  magiceden: Named;
};

/** The partners that are configured. Each process that opens them has budgets of its own. */
export function openPartners({ opensea, magiceden }: Configured, patience: Patience): Partner[] {
  const streamUrl = opensea?.streamUrl ?? null;
  const stream = streamUrl === null ? undefined : { url: streamUrl };
  return [
    ...(opensea === null ? [] : [openOpensea({ ...opensea, stream, patience })]),
    ...(magiceden === null ? [] : [openMagiceden({ ...magiceden, patience })]),
  ];
}
