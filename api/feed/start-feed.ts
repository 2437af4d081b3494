import type { Logger } from "pino";
import type { Address } from "viem";
import { accountChain, type ChainId } from "#chains/index.ts";
import { openListener } from "#jobs/runner/signals.ts";
import type { Database } from "#projections/log/database.ts";
import type { PositionedReads } from "../http/reads/positioned-reads.ts";
import { frameSnakeCase } from "./event.ts";
import { feedSnapshots } from "./follow-log.ts";
import { type Feed, openFeed } from "./open-feed.ts";

/** Of each feed of `/v1`, beside the account API's. */
const v1Limits = { maxSubscribers: 1_000, unsentBytesTogether: 64 * 2 ** 20 };

/** The settings that the feeds need. `database`: the primary. */
export type FeedConfig = {
  readonly database: { readonly url: string };
  readonly fees: { readonly recipient: Address };
  readonly chains: readonly { readonly chainId: ChainId }[];
};

/** The live feed of a chain, as `/v1` and open pages follow it; undefined: the chain is not served. */
export type FeedOf = (chainId: ChainId, delivery: "latest" | "final") => Feed | undefined;

/** The live feeds of one process. */
export type Feeds = Pick<Feed, "figures" | "stop"> & {
  readonly account: Feed;
  readonly feedOf: FeedOf;
};

/** The feeds, notified when the projections have advanced by the primary database. */
export function startFeeds(
  config: FeedConfig,
  { db, reads }: { db: Database; reads: PositionedReads },
  logger: Logger,
): Feeds {
  const { database, fees, chains } = config;
  const snapshots = feedSnapshots(reads);
  const sourceOf = (chainId: ChainId) => ({
    db,
    chainIds: [chainId],
    feeRecipient: fees.recipient,
  });
  const account = openFeed({
    source: sourceOf(accountChain.id),
    snapshots,
    frame: frameSnakeCase,
    logger,
  });
  const ofV1 = new Map(
    chains.flatMap(({ chainId }) =>
      (["latest", "final"] as const).map((delivery) => {
        const source = { ...sourceOf(chainId), delivery };
        return [
          `${chainId} ${delivery}`,
          openFeed({ source, snapshots, logger, limits: v1Limits }),
        ];
      }),
    ),
  );
  const all = [account, ...ofV1.values()];
  const listener = openListener({
    url: database.url,
    channels: ["projected"],
    logger,
    onNotify: () => {
      for (const feed of all) feed.notify();
    },
  });
  return {
    account,
    feedOf: (chainId, delivery) => ofV1.get(`${chainId} ${delivery}`),
    figures() {
      const figures = all.map((feed) => feed.figures());
      const sum = (name: "readers" | "cut") => figures.reduce((total, one) => total + one[name], 0);
      return { readers: sum("readers"), cut: sum("cut") };
    },
    async stop() {
      await Promise.all([...all.map((feed) => feed.stop()), listener.stop()]);
    },
  };
}
