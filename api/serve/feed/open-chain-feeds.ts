import type { Logger } from "pino";
import type { ChainId } from "../../../abis/deployments.ts";
import type { Database } from "../../../projections/database.ts";
import { openListener } from "../../background/log-signal/listener.ts";
import { type Feed, openFeed } from "./open-feed.ts";
import type { FeedConfig } from "./start-feed.ts";

/** Of each chain's feed: open pages of one process. */
const limits = { maxSubscribers: 1_000, unsentBytesTogether: 64 * 2 ** 20 };

/** A feed for each chain, for pages that are open in browsers. */
export type ChainFeeds = {
  /** Undefined: the chain is not served. */
  feedOf(chainId: ChainId): Feed | undefined;
  stop(): Promise<void>;
};

type ChainFeedConfig = FeedConfig & {
  readonly chains: readonly { readonly chainId: ChainId }[];
};

/** The feeds of one process, notified by the primary database when the projections have advanced. */
export function openChainFeeds(config: ChainFeedConfig, db: Database, logger: Logger): ChainFeeds {
  const feeRecipient = config.fees.recipient;
  const feeds = new Map(
    config.chains.map(({ chainId }) => {
      const source = { db, chainIds: [chainId], feeRecipient };
      return [chainId, openFeed({ source, logger, limits })] as const;
    }),
  );
  const listener = openListener({
    url: config.database.url,
    channels: ["projected"],
    logger,
    onNotify: () => {
      for (const feed of feeds.values()) feed.notify();
    },
  });
  return {
    feedOf: (chainId) => feeds.get(chainId),
    async stop() {
      await Promise.all([listener.stop(), ...[...feeds.values()].map((feed) => feed.stop())]);
    },
  };
}
