import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { archivePartition } from "../../api/run/archives/archive-partition.ts";
import { type Database, openDatabase } from "../../projections/database.ts";
import { readArchives } from "../../projections/log/archives/archives.ts";
import { detachPartition } from "../../projections/log/archives/detach-partition.ts";
import { partitionAt } from "../support/database/archives.ts";
import { type OwnServer, openOwnServer } from "../support/database/own-server.ts";
import { until } from "../support/database/pipeline.ts";
import { createDatabase, type TestDatabase } from "../support/database/postgres.ts";
import { recordHistory } from "../support/database/recorded-history.ts";
import { openStandby } from "../support/database/standby.ts";

const first = 40n;
let primary: OwnServer;
let database: TestDatabase;
let directory: string;
let standby: OwnServer | undefined;
let reader: Database | undefined;

beforeAll(async () => {
  primary = await openOwnServer({ replicates: true });
  database = await createDatabase({ server: primary.url, template: "projected" });
  directory = await mkdtemp(join(tmpdir(), "detach-"));
  await recordHistory(database.db, 2);
  await archivePartition(database.db, await partitionAt(database.db, first), directory);
}, 120_000);
afterAll(async () => {
  await reader?.destroy();
  await standby?.close();
  await database?.close();
  await primary?.close();
  await rm(directory, { recursive: true });
});

const countFacts = async (session: Database) =>
  (await sql<{ facts: bigint }>`select count(*) as facts from log.fact`.execute(session)).rows[0]
    ?.facts;

/** The oldest snapshot that a standby reports, by its slot. */
async function isReported(): Promise<boolean> {
  const { rows } = await sql`
    select from pg_replication_slots where slot_name = 'standby' and xmin is not null`.execute(
    database.db,
  );
  return rows.length > 0;
}

it("waits for a transaction that a standby reports by its slot, which sees every fact to its end", async () => {
  await sql`select pg_create_physical_replication_slot('standby', true)`.execute(database.db);
  standby = await openStandby(primary, {
    hot_standby_feedback: "on",
    primary_slot_name: "standby",
    wal_receiver_status_interval: "1",
  });
  const url = standby.url.replace(/\/postgres$/, `/${database.name}`);
  reader = openDatabase({ url, applicationName: "test", onIdleError: () => {} });
  const archive = (await readArchives(database.db)).find((one) => one.first === first);
  if (archive === undefined) throw new Error("it is archived");
  const partition = await partitionAt(database.db, first);
  const facts = await countFacts(database.db);

  await reader
    .transaction()
    .setIsolationLevel("repeatable read")
    .execute(async (session) => {
      await sql`select from log.archive`.execute(session);
      await until("the standby's report", isReported);
      await expect(detachPartition(database.db, partition, archive)).rejects.toThrow(
        "nothing was detached",
      );
      expect(await countFacts(session)).toBe(facts);
    });
  await until("a report without it", async () => {
    const done = await detachPartition(database.db, partition, archive).catch(() => null);
    return done !== null;
  });
  expect((await readArchives(database.db))[0]?.detachedAt).toBeInstanceOf(Date);
}, 120_000);
