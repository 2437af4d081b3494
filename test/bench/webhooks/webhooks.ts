import { availableParallelism, loadavg } from "node:os";
import { sql } from "kysely";
import { createWebhook } from "#api/webhooks/stored-webhooks.ts";
import { idAfterPosition } from "#projections/activity/feed-events.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import { appendTransfers, createCheckpoints } from "../feed/events.ts";
import { type Figure, medianFigure } from "../figure.ts";
import { findPostmaster, processorMs } from "../ponder/processor.ts";
import { withDatabase } from "../server.ts";
import { timeDeliveries } from "./latency.ts";
import { type Delivering, type Receiving, startDelivering, startReceiving } from "./processes.ts";

const webhooks = 200;
/** Addresses of receivers, each of which has a tenth of the webhooks. */
const hosts = 20;
const warmUp = 50;
const events = 300;
const perCore = 2_000;

/**
 * Events that are delivered to fast receivers, by a process that does nothing else; receivers are another process. Then
 * the time from a block until its sale is delivered, beside the time until the API answers with it.
 */
export async function run(): Promise<Figure[]> {
  const rates = await withDatabase(async (db, url) => {
    await createCheckpoints(db);
    const receiving = await startReceiving();
    const origins = Array.from(
      { length: hosts },
      (_, n) => `http://127.0.0.${n + 2}:${receiving.port}`,
    );
    await makeWebhooks(db, origins);
    const delivering = await startDelivering(url, origins);
    try {
      return await measure(db, delivering, receiving);
    } finally {
      await delivering.stop();
      await receiving.stop();
    }
  });
  return [...rates, ...(await timeDeliveries())];
}

async function makeWebhooks(db: Database, origins: readonly string[]): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    insert into access.account (email, password, created_at)
    select 'hook' || n || '@example.test', '', now() from generate_series(1, ${webhooks}) n returning id`.execute(
    db,
  );
  const of = {
    chainId: 33139,
    delivery: "latest",
    filter: {},
    place: idAfterPosition(-1n),
  } as const;
  for (const [index, { id: accountId }] of rows.entries()) {
    const url = `${origins[index % origins.length]}/${index}`;
    const made = await createWebhook({ db, clock: () => null }, { ...of, accountId, url });
    if (isRejection(made)) throw new Error(made.message);
  }
}

async function measure(
  db: Database,
  delivering: Delivering,
  receiving: Receiving,
): Promise<Figure[]> {
  const postmaster = await findPostmaster(db);
  await appendTransfers(db, { height: 1, count: warmUp });
  await receiving.until(webhooks * warmUp);
  const readMs = () => [performance.now(), processorMs(delivering.pid), processorMs(postmaster)];
  const before = readMs();
  await appendTransfers(db, { height: 2, count: events });
  await receiving.until(webhooks * (warmUp + events));
  const [seconds = 0, own = 0, database = 0] = readMs().map(
    (ms, n) => (ms - (before[n] ?? 0)) / 1_000,
  );
  const count = webhooks * events;
  const size =
    `${count} deliveries to ${webhooks} webhooks at ${hosts} addresses in ${seconds.toFixed(1)} s; ` +
    `load ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} cores`;
  const rate = (name: string, per: number, atLeast?: number) =>
    medianFigure(name, [count / per], { unit: "deliveries/s", ...(atLeast && { atLeast }) }, size);
  return [
    rate("webhooks, delivered per second of its processor time", own, perCore),
    rate("webhooks, the same with PostgreSQL's", own + database),
    rate("webhooks, delivered per second", seconds),
  ];
}
