import type { Config } from "#ops/config/config.ts";

/** What is read of the configuration. `database.url` is null where PostgreSQL is embedded and not running. */
export type InspectedConfig = Omit<Config, "database"> & {
  database: Pick<Config["database"], "replicas" | "maxReplicaLagSeconds" | "poolerUrl"> & {
    url: string | null;
  };
};
