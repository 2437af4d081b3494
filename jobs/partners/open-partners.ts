import { type PartnerName, partnerNames } from "#projections/domain/partners.ts";
import type { Partner } from "./partner.ts";
import type { PartnerConfig } from "./partner-definition.ts";
import { partnerDefinitions } from "./partner-definitions.ts";
import type { Timeouts } from "./transport.ts";

/** Settings by partner; null: switched off. */
export type PartnerConfigs = Readonly<Record<PartnerName, PartnerConfig | null>>;

/** Clients of the configured partners. Rate limits are per process. */
export function openPartners(configs: PartnerConfigs, timeouts: Timeouts): Partner[] {
  return partnerNames.flatMap((name) => {
    const config = configs[name];
    return config === null ? [] : [partnerDefinitions[name].open(config, timeouts)];
  });
}
