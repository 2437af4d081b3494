import type { PartnerName } from "#projections/domain/partners.ts";
import { magiceden } from "./magiceden/client.ts";
import { opensea } from "./opensea/client.ts";
import type { PartnerDefinition } from "./partner-definition.ts";

/** The API of every partner, one folder each. */
export const partnerDefinitions: Readonly<Record<PartnerName, PartnerDefinition>> = {
  opensea,
  magiceden,
};
