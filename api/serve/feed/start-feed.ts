import type { Logger } from "pino";
import type { Database } from "../../../projections/database.ts";
import type { RoleConfig } from "../../run/roles/role.ts";
import { openListener } from "../../work/log-signal/listener.ts";
import { type Feed, openFeed } from "./open-feed.ts";

/** The chain that the account API tells of. */
const chainIds = [33139];

/** The feed of one process; the writer's database tells when the projections have moved. */
export function startFeed(
  { database, fees }: Pick<RoleConfig, "database" | "fees">,
  db: Database,
  logger: Logger,
): Feed {
  const feed = openFeed({ source: { db, chainIds, feeRecipient: fees.recipient }, logger });
  const listener = openListener({
    url: database.url,
    channels: ["projected"],
    logger,
    onNotify: () => feed.ring(),
  });
  return {
    ...feed,
    async stop() {
      await Promise.all([feed.stop(), listener.stop()]);
    },
  };
}
