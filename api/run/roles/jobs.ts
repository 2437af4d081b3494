import { once } from "node:events";
import { openChain } from "../../work/chain/clients.ts";
import { runClockTicks } from "../../work/jobs/append-clock-ticks.ts";
import { runContractDescriptions } from "../../work/jobs/describe-contracts.ts";
import { runCrossListingPosts } from "../../work/jobs/post-cross-listings.ts";
import { runRarityRanking } from "../../work/jobs/rank-rarity.ts";
import { runContractRechecks } from "../../work/jobs/recheck-contracts.ts";
import { runMetadataRefresh } from "../../work/jobs/refresh-metadata.ts";
import { registerCuratedCollections } from "../../work/jobs/register-curated.ts";
import { runFloorSnapshots } from "../../work/jobs/snapshot-floors.ts";
import { runOrderSweep } from "../../work/jobs/sweep-orders.ts";
import { runPartnerSync } from "../../work/jobs/sync-partners.ts";
import { runPriceUpdates } from "../../work/jobs/update-prices.ts";
import { waitUntilDerived } from "../../work/jobs/wait-until-derived.ts";
import { openListener } from "../../work/log-signal/listener.ts";
import { createSignal, createThrottledSignal, type Signal } from "../../work/log-signal/signal.ts";
import { openPartners } from "../../work/marketplaces/open-partners.ts";
import { background } from "../../work/marketplaces/transport.ts";
import { openDocumentFetcher } from "../../work/metadata/document-fetcher.ts";
import { type LeaderContext, runLeaderRole } from "./leader-role.ts";
import type { RoleContext, Running } from "./role.ts";

/** What is not awaited by anybody looks this often while much happens. */
const calmMs = 500;
/** Who looks at what has become doubtful: an answer that takes an order in waits for the same processors. */
const doubtMs = 100;

/** Observations the service makes by itself: curated collections, contracts' names. One process works, others stand by. */
export async function runRole(context: RoleContext): Promise<Running> {
  const connections = 4 + 3 * context.config.chains.length;
  return runLeaderRole(context, { name: "jobs", connections, work });
}

async function work({ context, db, signal, onReady }: LeaderContext): Promise<void> {
  const { config, logger } = context;
  const intervalMs = config.checkIntervalSeconds * 1_000;
  const partnerIntervalMs = config.partners.intervalSeconds * 1_000;
  const wakes: Signal[] = [];
  const now = () => new Date();
  const rungWithAll = (one: Signal) => {
    wakes.push(one);
    return one;
  };
  const calmWake = (everyMs = calmMs) => rungWithAll(createThrottledSignal(everyMs));
  const chainIds = config.chains.map(({ chainId }) => chainId);
  const clients = config.chains.map(openChain);
  const ethereum = clients.find(({ chainId }) => chainId === 1);
  const listener = openListener({
    url: config.database.url,
    channels: ["projected"],
    logger,
    onNotify: () => {
      for (const one of wakes) one.notify();
    },
  });
  const fetcher = openDocumentFetcher(config.metadata);
  const partners = openPartners(config.partners, background);
  /** Before its tables are derived for the first time a job has nothing to look at. */
  const after = async (names: readonly string[], keep: () => Promise<void>) => {
    await waitUntilDerived(names, { db, changeSignal: rungWithAll(createSignal()), signal });
    if (!signal.aborted) await keep();
  };
  const books = ["listings", "bids"];
  const keepAll = () => [
    after(books, () => runClockTicks({ db, changeSignal: calmWake(), logger, signal })),
    after(["collection_stats", "floors"], () =>
      runFloorSnapshots({ db, chainIds, logger, signal }),
    ),
    runPriceUpdates({ db, feeds: config.prices.feeds, ethereum, logger, signal }),
    after(["collections", "traits"], () =>
      runRarityRanking({ db, changeSignal: calmWake(), logger, signal }),
    ),
    ...partners.flatMap((partner) => [
      after(["collections", "listings"], () =>
        runPartnerSync({
          ...{ db, partner, chainIds, now, logger, signal },
          intervalMs: partnerIntervalMs,
        }),
      ),
      after(["twins", "listings"], () =>
        runCrossListingPosts({
          db,
          partner,
          chainIds,
          changeSignal: calmWake(),
          now,
          logger,
          signal,
        }),
      ),
    ]),
    ...clients.flatMap((client) => [
      after(["collections"], () =>
        runContractDescriptions({ db, client, changeSignal: calmWake(), logger, signal }),
      ),
      after(books, () =>
        runOrderSweep({ db, client, changeSignal: calmWake(doubtMs), intervalMs, logger, signal }),
      ),
      after(books, () => runContractRechecks({ db, client, logger, signal })),
      after(["metadata", "ownership"], () =>
        runMetadataRefresh({ db, client, fetcher, changeSignal: calmWake(), now, logger, signal }),
      ),
    ]),
  ];
  try {
    const served = new Set<number>(chainIds);
    const curated = config.curated.collections.filter(({ chainId }) => served.has(chainId));
    const registered = await registerCuratedCollections(db, curated, new Date());
    if (registered > 0) logger.info(`registered ${registered} curated collections`);
    onReady();
    await Promise.race([
      // A chain may take long to answer; what it says after the end is not waited for.
      aborted(signal),
      Promise.all(keepAll()),
    ]);
  } finally {
    const opened = [fetcher, ...partners];
    await Promise.all([listener.stop(), ...opened.map((one) => one.close())]);
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}
