import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { allProjections } from "#projections/all.ts";
import { tick } from "#projections/engine/tick.ts";
import { appendObservations } from "#projections/log/append.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { addressOf, createProjections, project } from "#test/support/database/given.ts";
import { type OwnServer, openOwnServer } from "#test/support/database/own-server.ts";
import { until } from "#test/support/database/pipeline.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { openStandby } from "#test/support/database/standby.ts";
import { feeRecipient, givenListing } from "#test/support/orders/order-facts.ts";

const writers = 4;
/** Acknowledged appends before the primary is killed. */
const acknowledgedFirst = 200;

let primary: OwnServer;
let standby: OwnServer;
let database: TestDatabase;
let promoted: Database;
let targets: Awaited<ReturnType<typeof createProjections>>;

beforeAll(async () => {
  primary = await openOwnServer({ replicates: true });
  database = await createDatabase({ server: primary.url });
  targets = await createProjections(database.db, allProjections({ feeRecipient }));
  standby = await openStandby(primary);
  promoted = openOn(standby.url.replace(/\/postgres$/, `/${database.name}`));
});
afterAll(async () => {
  await promoted?.destroy();
  await database?.close();
  await standby?.close();
  await primary?.close();
});

const openOn = (url: string) =>
  openDatabase({ url, applicationName: "test", onIdleError: () => {} });

/** Commits wait for the standby, as the runbook has it. */
async function commitSynchronously(): Promise<void> {
  const admin = openOn(primary.url);
  try {
    await sql.raw(`alter database ${database.name} set synchronous_commit = on`).execute(admin);
    await sql`alter system set synchronous_standby_names = 'standby'`.execute(admin);
    await sql`select pg_reload_conf()`.execute(admin);
    await until("a synchronous standby", async () => {
      const { rows } = await sql<{ isSynchronous: boolean }>`
        select sync_state = 'sync' as "isSynchronous" from pg_stat_replication`.execute(admin);
      return rows[0]?.isSynchronous;
    });
  } finally {
    await admin.destroy();
  }
}

/** Appends listings, one after the other, until the server does not answer. */
async function write(db: Database, writer: number, acknowledged: string[]): Promise<void> {
  for (let number = 0; ; number += 1) {
    const salt = BigInt(number * writers + writer);
    const { orderHash, submitted } = givenListing({
      ...{ maker: addressOf(1), contract: addressOf(2), tokenId: salt, salt },
    });
    try {
      await appendObservations(db, [submitted]);
      acknowledged.push(orderHash);
    } catch {
      return;
    }
  }
}

it("a promoted synchronous standby has every acknowledged fact, and goes on behind the last one", async () => {
  await commitSynchronously();
  const sessions = openOn(database.url);
  const acknowledged: string[] = [];
  const writing = Array.from({ length: writers }, (_, writer) =>
    write(sessions, writer, acknowledged),
  );
  await until("appended listings", async () => {
    // One tick: writers may append faster than a busy machine applies, and its end would never come.
    await tick(database.db, targets);
    return acknowledged.length >= acknowledgedFirst;
  });
  await primary.kill();
  await Promise.all(writing);
  await sessions.destroy();
  await sql`select pg_promote()`.execute(promoted);

  const head = await readLogHead(promoted);
  const { rows: facts } = await sql<{ position: bigint; orderHash: string | null }>`
    select position, order_hash as "orderHash" from log.fact order by position`.execute(promoted);
  expect(facts.map(({ position }) => position)).toEqual(facts.map((_, index) => BigInt(index + 1)));
  expect(head).toBe(BigInt(facts.length));
  expect(acknowledged.length).toBeGreaterThanOrEqual(acknowledgedFirst);
  const kept = new Set(facts.map(({ orderHash }) => orderHash));
  expect(acknowledged.filter((orderHash) => !kept.has(orderHash))).toEqual([]);

  const { rows: ahead } = await sql<{ projection: string }>`
    select projection from engine.checkpoint where position > ${head}`.execute(promoted);
  expect(ahead).toEqual([]);
  const salt = 1_000_000n;
  const next = givenListing({ maker: addressOf(1), contract: addressOf(2), tokenId: salt, salt });
  expect((await appendObservations(promoted, [next.submitted])).head).toBe(head + 1n);
  await project(promoted, targets);
  const { rows } = await sql<{ listings: bigint }>`
    select count(*) as listings from listings.listing`.execute(promoted);
  expect(rows[0]?.listings).toBe(head + 1n);
});
