import { allProjections } from "#projections/all.ts";
import type { Projection } from "#projections/engine/projection.ts";
import { ConfigurationError } from "#ops/config/read-config.ts";
import type { InspectedConfig } from "./inspected-config.ts";

/** The projections with the parameters of this configuration. */
export function configuredProjections({ fees }: InspectedConfig): Projection[] {
  const feeRecipient = fees.recipient;
  if (feeRecipient !== null) return allProjections({ feeRecipient });
  throw new ConfigurationError([
    "FEE_RECIPIENT: required, unless `npm start` runs in the same DATA_DIR. " +
      "Example: FEE_RECIPIENT=0x00000000000000000000000000000000000fee01",
  ]);
}
