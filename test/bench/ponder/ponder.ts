import { sql } from "kysely";
import { startOrphanGuard } from "#ops/processes/child.ts";
import { appendObservations } from "#projections/log/append.ts";
import type { Database } from "#projections/log/database.ts";
import { factKind } from "#projections/log/fact-kinds.ts";
import { pipelineSettings, until } from "#test/support/database/pipeline.ts";
import type { Figure } from "../figure.ts";
import { withDatabase } from "../server.ts";
import { type GeneratedChain, generateChain } from "./chain.ts";
import { compareHttp } from "./http.ts";
import { type Backfill, startApp } from "./process.ts";
import { findPostmaster } from "./processor.ts";
import { compareRebuilds } from "./rebuild.ts";
import { whileRunning, whileServing } from "./serving.ts";

const EVENTS = 100_000;
const ORDER_BATCH = 5_000;

type Setup = {
  db: Database;
  chain: GeneratedChain;
  settings: Record<string, string>;
  orphanGuard: ReturnType<typeof startOrphanGuard>;
  postmaster: number;
};

/** The same work by Ponder's handlers and by the projections, and the same lists served by both. */
export async function run({ facts }: { facts: number }): Promise<Figure[]> {
  const chain = await generateChain(Math.min(facts, EVENTS));
  const orphanGuard = startOrphanGuard();
  try {
    return await withDatabase(async (db, url) => {
      const { rpcUrl } = chain.anvil;
      const settings = await pipelineSettings({
        ...{ databaseUrl: url, chains: [{ chainId: 33139, rpcUrl }] },
        settings: { LOGS_BLOCK_RANGE_33139: "50" },
      });
      const postmaster = await findPostmaster(db);
      const setup = { db, chain, settings, orphanGuard, postmaster };
      await recordLog(setup);
      const { figures, schema } = await compareRebuilds({
        ...{ db, postmaster, events: chain.events, orders: chain.orders.length },
        backfill: (into) => backfill(setup, into),
      });
      return [...figures, ...(await serveBoth(setup, schema))];
    });
  } finally {
    orphanGuard.killAll();
    await chain.anvil.stop();
  }
}

/** Records the chain with our indexer, then appends its orders as if their makers had submitted them. */
async function recordLog(setup: Setup): Promise<void> {
  const { db, chain } = setup;
  await whileRunning(setup, ["indexer", "projector"], async () => {
    await until("the log", async () => (await countEvents(db)) >= chain.events, 600_000);
  });
  const recorded = await countEvents(db);
  if (recorded !== chain.events) throw new Error(`${recorded} of ${chain.events} are recorded`);
  for (let from = 0; from < chain.orders.length; from += ORDER_BATCH) {
    await appendObservations(db, chain.orders.slice(from, from + ORDER_BATCH));
  }
  await sql`vacuum analyze`.execute(db);
}

/** Events of the log as Ponder counts them: a batch is one event. */
async function countEvents(db: Database): Promise<number> {
  const { erc721_transfer, erc721_consecutive_transfer, erc1155_transfer } = factKind;
  const { order_fulfilled, order_cancelled, counter_incremented, order_validated } = factKind;
  const transfers = [erc721_transfer, erc721_consecutive_transfer, erc1155_transfer];
  const orders = [order_fulfilled, order_cancelled, counter_incremented, order_validated];
  const { rows } = await sql<{ events: number }>`
    select count(*)::int as events from log.fact
    where kind = any (${[...transfers, ...orders]}::int[]) and sub_index = 0`.execute(db);
  return rows[0]?.events ?? 0;
}

async function backfill(setup: Setup, schema: string): Promise<Backfill> {
  const { chain, settings, orphanGuard, postmaster } = setup;
  const app = await startApp({
    ...{ command: "start", schema, databaseUrl: settings.DATABASE_URL ?? "" },
    ...{ rpcUrl: chain.anvil.rpcUrl, orphanGuard, postmaster },
  });
  const done = await app.backfilled.finally(app.stop);
  const { events } = chain;
  if (done.events !== events) throw new Error(`Ponder handled ${done.events} of ${events} events`);
  return done;
}

async function serveBoth(setup: Setup, schema: string): Promise<Figure[]> {
  const { chain, settings, orphanGuard, postmaster } = setup;
  await sql`vacuum analyze`.execute(setup.db);
  const { rpcUrl } = chain.anvil;
  return await whileServing({ schema, rpcUrl, settings, orphanGuard, postmaster }, (servers) =>
    compareHttp(servers, chain.hot),
  );
}
