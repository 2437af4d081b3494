import type { PartnerDefinition } from "#jobs/partners/partner-definition.ts";
import { openExamplePartner } from "./client.ts";

export const example: PartnerDefinition = {
  api: "Example (API v1)",
  exampleUrl: "https://api.partner.example",
  open: openExamplePartner,
};
