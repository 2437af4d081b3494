import { once } from "node:events";
import { type Database, openDatabase } from "../../projections/database.ts";
import { openChain } from "../chain/clients.ts";
import { keepDescribing } from "../jobs/keep-describing.ts";
import { registerCurated } from "../jobs/register-curated.ts";
import type { RoleContext, Running } from "../role.ts";
import { lead, leaseMs } from "./leader.ts";
import { openListener } from "./listener.ts";
import { createWake } from "./wake.ts";

/** Observations the service makes by itself: curated collections, contracts' names. One process works, others stand by. */
export async function runRole(context: RoleContext): Promise<Running> {
  const { config, logger } = context;
  const db = openDatabase({
    url: config.database.url,
    applicationName: "jobs",
    max: 2 + config.chains.length,
    idleInTransactionTimeoutMs: leaseMs,
    onIdleError: (error) => logger.warn({ err: error }, "a database connection was lost"),
  });
  const ending = new AbortController();
  const signal = AbortSignal.any([context.signal, ending.signal]);
  let report = () => {};
  const ready = new Promise<void>((resolve) => {
    report = resolve;
  });
  const work = run({ context, db, signal, onReady: () => report() });
  const failed = work.then(() => new Promise<never>(() => {}));
  failed.catch(() => undefined);
  return {
    ready: Promise.race([ready, failed]),
    failed,
    async stop() {
      ending.abort();
      await work.catch(() => undefined);
      await db.destroy();
    },
  };
}

type Work = { context: RoleContext; db: Database; signal: AbortSignal; onReady: () => void };

async function run({ context, db, signal, onReady }: Work): Promise<void> {
  const { config, logger } = context;
  const { url } = config.database;
  const leadership = await lead({ url, role: "jobs", logger, signal });
  if (leadership === null) return;
  const leading = AbortSignal.any([signal, leadership.signal]);
  const chains = config.chains.map((chain) => ({ ...chain, wake: createWake() }));
  const listener = openListener({
    url,
    channels: ["projected"],
    logger,
    onNotify: () => {
      for (const { wake } of chains) wake.ring();
    },
  });
  try {
    const served = new Set<number>(chains.map(({ chainId }) => chainId));
    const curated = config.curated.collections.filter(({ chainId }) => served.has(chainId));
    const registered = await registerCurated(db, curated, new Date());
    if (registered > 0) logger.info(`registered ${registered} curated collections`);
    onReady();
    await Promise.race([
      leadership.lost,
      // A chain may take long to answer; what it says after the end is not waited for.
      aborted(signal),
      Promise.all(
        chains.map(({ wake, ...chain }) =>
          keepDescribing({ db, client: openChain(chain), wake, logger, signal: leading }),
        ),
      ),
    ]);
  } finally {
    await listener.stop();
    await leadership.release();
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}
