import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { checkReplicas } from "#ops/reports/find-server-problems.ts";
import { appendObservations } from "#projections/log/append.ts";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { addressOf } from "#test/support/database/given.ts";
import { type OwnServer, openOwnServer } from "#test/support/database/own-server.ts";
import { until } from "#test/support/database/pipeline.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { openStandby } from "#test/support/database/standby.ts";
import { givenListing } from "#test/support/orders/order-facts.ts";

let primary: OwnServer;
let standby: OwnServer;
let database: TestDatabase;
let onStandby: Database;
let standbyUrl: string;

beforeAll(async () => {
  primary = await openOwnServer({ replicates: true });
  database = await createDatabase({ server: primary.url });
  standby = await openStandby(primary);
  standbyUrl = standby.url.replace(/\/postgres$/, `/${database.name}`);
  onStandby = openDatabase({ url: standbyUrl, applicationName: "test", onIdleError: () => {} });
});
afterAll(async () => {
  await onStandby?.destroy();
  await database?.close();
  await standby?.close();
  await primary?.close();
});

const check = (url: string) => {
  return checkReplicas(database.db, {
    replicas: [{ url, weight: 1, isPooled: false }],
    maxReplicaLagSeconds: 1,
  });
};
const listing = (salt: bigint) =>
  givenListing({ maker: addressOf(1), contract: addressOf(2), tokenId: salt, salt }).submitted;
const about = () => `replica ${new URL(standbyUrl).host}`;

it("op doctor finds nothing wrong with a standby that follows", async () => {
  await appendObservations(database.db, [listing(1n)]);
  expect(await check(standbyUrl)).toEqual([]);
});

it("op doctor says how far a standby is behind, until it is there again", async () => {
  await sql`select pg_wal_replay_pause()`.execute(onStandby);
  await appendObservations(database.db, [listing(2n)]);
  expect(await check(standbyUrl)).toMatchObject([
    { about: about(), isFault: true, finding: "is 1 fact behind, also after 1 s" },
  ]);
  await sql`select pg_wal_replay_resume()`.execute(onStandby);
  await until("a standby that follows", async () => (await check(standbyUrl)).length === 0);
});

it("op doctor tells a replica that is down, the primary, a promoted standby and another database apart", async () => {
  const host = new URL(database.url).host;
  expect(await check(database.url)).toMatchObject([
    { about: `replica ${host}`, finding: "accepts writes: it is the primary, or was promoted" },
  ]);
  await standby.stop();
  expect(await check(standbyUrl)).toMatchObject([
    { about: about(), isFault: true, finding: expect.stringMatching(/^does not answer: /) },
  ]);
  await standby.start();
  const promoted = sql<{ done: boolean }>`select pg_promote() as done`;
  await until("a promotion", async () => (await promoted.execute(onStandby)).rows[0]?.done);
  expect(await check(standbyUrl)).toMatchObject([
    { finding: "accepts writes: it is the primary, or was promoted" },
  ]);
  const other = await createDatabase();
  try {
    expect(await check(other.url)).toMatchObject([{ finding: "is not a copy of the primary" }]);
  } finally {
    await other.drop();
  }
});
