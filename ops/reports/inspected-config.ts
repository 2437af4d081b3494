import { allProjections } from "#projections/all.ts";
import type { Projection } from "#projections/engine/projection.ts";
import type { Config } from "../config/config.ts";
import { ConfigurationError } from "../config/read-config.ts";

/** What is read of the configuration. `database.url` is null where PostgreSQL is embedded and not running. */
export type InspectedConfig = Omit<Config, "database"> & {
  database: Pick<Config["database"], "replicas" | "maxReplicaLagSeconds" | "poolerUrl"> & {
    url: string | null;
  };
};

/** The projections with the parameters of this configuration. */
export function configuredProjections({ fees }: InspectedConfig): Projection[] {
  const feeRecipient = fees.recipient;
  if (feeRecipient !== null) return allProjections({ feeRecipient });
  throw new ConfigurationError([
    "FEE_RECIPIENT: required, unless `npm start` runs in the same DATA_DIR. " +
      "Example: FEE_RECIPIENT=0x00000000000000000000000000000000000fee01",
  ]);
}
