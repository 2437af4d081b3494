import type { Logger } from "pino";
import type { Address } from "viem";
import type { Database } from "../../../projections/database.ts";
import { openListener } from "../../background/log-signal/listener.ts";
import { type Feed, openFeed } from "./open-feed.ts";

/** The chain of the account API. */
const chainIds = [33139];

/** The settings that the feed needs. `database`: the primary. */
export type FeedConfig = {
  readonly database: { readonly url: string };
  readonly fees: { readonly recipient: Address };
};

/** The feed of one process, notified by the primary database when the projections have advanced. */
export function startFeed({ database, fees }: FeedConfig, db: Database, logger: Logger): Feed {
  const feed = openFeed({ source: { db, chainIds, feeRecipient: fees.recipient }, logger });
  const listener = openListener({
    url: database.url,
    channels: ["projected"],
    logger,
    onNotify: () => feed.notify(),
  });
  return {
    ...feed,
    async stop() {
      await Promise.all([feed.stop(), listener.stop()]);
    },
  };
}
