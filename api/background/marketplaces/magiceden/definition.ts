import type { PartnerDefinition } from "../partner-definition.ts";
import { openMagiceden } from "./client.ts";

export const magiceden: PartnerDefinition = {
  api: "Magic Eden (API v3)",
  exampleUrl: "https://api-mainnet.magiceden.dev/v3/rtp",
  open: ({ streamUrl: _, ...config }, timeouts) => openMagiceden({ ...config, timeouts }),
};
