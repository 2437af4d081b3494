import { once } from "node:events";
import { openChain } from "../../work/chain/clients.ts";
import { keepChecking } from "../../work/jobs/keep-checking.ts";
import { keepClock } from "../../work/jobs/keep-clock.ts";
import { keepDescribing } from "../../work/jobs/keep-describing.ts";
import { keepFloors } from "../../work/jobs/keep-floors.ts";
import { keepMetadata } from "../../work/jobs/keep-metadata.ts";
import { keepPartner } from "../../work/jobs/keep-partners.ts";
import { keepPrices } from "../../work/jobs/keep-prices.ts";
import { keepRanking } from "../../work/jobs/keep-ranking.ts";
import { keepTwins } from "../../work/jobs/keep-twins.ts";
import { keepWatch } from "../../work/jobs/keep-watch.ts";
import { registerCurated } from "../../work/jobs/register-curated.ts";
import { untilProjected } from "../../work/jobs/until-projected.ts";
import { openListener } from "../../work/log-signal/listener.ts";
import { createCalmWake, createWake, type Wake } from "../../work/log-signal/wake.ts";
import { openPartners } from "../../work/marketplaces/open-partners.ts";
import { patient } from "../../work/marketplaces/transport.ts";
import { openDocumentFetcher } from "../../work/metadata/open-fetcher.ts";
import { type Led, runLedRole } from "./led-role.ts";
import type { RoleContext, Running } from "./role.ts";

/** What is not awaited by anybody looks this often while much happens. */
const calmMs = 500;
/** Who looks at what has become doubtful: an answer that takes an order in waits for the same processors. */
const doubtMs = 100;

/** Observations the service makes by itself: curated collections, contracts' names. One process works, others stand by. */
export async function runRole(context: RoleContext): Promise<Running> {
  const connections = 4 + 3 * context.config.chains.length;
  return runLedRole(context, { name: "jobs", connections, work });
}

async function work({ context, db, signal, onReady }: Led): Promise<void> {
  const { config, logger } = context;
  const intervalMs = config.checkIntervalSeconds * 1_000;
  const partnerIntervalMs = config.partners.intervalSeconds * 1_000;
  const wakes: Wake[] = [];
  const now = () => new Date();
  const rungWithAll = (one: Wake) => {
    wakes.push(one);
    return one;
  };
  const calmWake = (everyMs = calmMs) => rungWithAll(createCalmWake(everyMs));
  const chainIds = config.chains.map(({ chainId }) => chainId);
  const clients = config.chains.map(openChain);
  const ethereum = clients.find(({ chainId }) => chainId === 1);
  const listener = openListener({
    url: config.database.url,
    channels: ["projected"],
    logger,
    onNotify: () => {
      for (const one of wakes) one.ring();
    },
  });
  const fetcher = openDocumentFetcher(config.metadata);
  const partners = openPartners(config.partners, patient);
  /** Before its tables are derived for the first time a job has nothing to look at. */
  const after = async (names: readonly string[], keep: () => Promise<void>) => {
    await untilProjected(names, { db, wake: rungWithAll(createWake()), signal });
    if (!signal.aborted) await keep();
  };
  const books = ["listings", "bids"];
  const keepAll = () => [
    after(books, () => keepClock({ db, wake: calmWake(), logger, signal })),
    after(["collection_stats", "floors"], () => keepFloors({ db, chainIds, logger, signal })),
    keepPrices({ db, feeds: config.prices.feeds, ethereum, logger, signal }),
    after(["collections", "traits"], () => keepRanking({ db, wake: calmWake(), logger, signal })),
    ...partners.flatMap((partner) => [
      after(["collections", "listings"], () =>
        keepPartner({
          ...{ db, partner, chainIds, now, logger, signal },
          intervalMs: partnerIntervalMs,
        }),
      ),
      after(["twins", "listings"], () =>
        keepTwins({ db, partner, chainIds, wake: calmWake(), now, logger, signal }),
      ),
    ]),
    ...clients.flatMap((client) => [
      after(["collections"], () =>
        keepDescribing({ db, client, wake: calmWake(), logger, signal }),
      ),
      after(books, () =>
        keepChecking({ db, client, wake: calmWake(doubtMs), intervalMs, logger, signal }),
      ),
      after(books, () => keepWatch({ db, client, logger, signal })),
      after(["metadata", "ownership"], () =>
        keepMetadata({ db, client, fetcher, wake: calmWake(), now, logger, signal }),
      ),
    ]),
  ];
  try {
    const served = new Set<number>(chainIds);
    const curated = config.curated.collections.filter(({ chainId }) => served.has(chainId));
    const registered = await registerCurated(db, curated, new Date());
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
