import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { archivePartition } from "../../api/run/archives/archive-partition.ts";
import type { Database } from "../../projections/database.ts";
import { readArchives } from "../../projections/log/archives/archives.ts";
import { attachPartition } from "../../projections/log/archives/attach-partition.ts";
import { detachPartition } from "../../projections/log/archives/detach-partition.ts";
import { openFailingAt } from "../simulation/faults.ts";
import { partitionAt } from "../support/database/archives.ts";
import { createDatabase, type TestDatabase } from "../support/database/postgres.ts";
import { hashOfLog, recordHistory } from "../support/database/recorded-history.ts";

const first = 40n;
let database: TestDatabase;
let directory: string;
let complete: string;
beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  directory = await mkdtemp(join(tmpdir(), "detach-"));
  await recordHistory(database.db, 2);
  complete = await hashOfLog(database.db);
  await archivePartition(database.db, await partitionAt(database.db, first), directory);
}, 120_000);
afterAll(async () => {
  await database.drop();
  await rm(directory, { recursive: true });
});

/** What each statement's failure leaves, and that the same call goes on from there. */
async function failAtEach(
  work: (db: Database) => Promise<unknown>,
  { isDone, undo }: { isDone: () => Promise<boolean>; undo: () => Promise<void> },
): Promise<number> {
  for (let place = 0; ; place += 1) {
    const failing = openFailingAt(database.url, place);
    await work(failing.db).catch(() => {});
    await failing.db.destroy();
    if (!failing.isStruck()) return place;
    const reached = await hashOfLog(database.db);
    if (!(await isDone())) await work(database.db);
    expect(await isDone()).toBe(true);
    const done = await hashOfLog(database.db);
    await undo();
    expect([await hashOfLog(database.db), done]).toContain(reached);
  }
}

describe("a failure at any statement", () => {
  const archiveOf = async () => {
    const found = (await readArchives(database.db)).find((one) => one.first === first);
    if (found === undefined) throw new Error("it is archived");
    return found;
  };
  const detach = async (db: Database) =>
    detachPartition(db, await partitionAt(database.db, first), await archiveOf());
  const attach = async (db: Database) =>
    attachPartition(db, await partitionAt(database.db, first), await archiveOf());
  const isDetached = async () => (await archiveOf()).detachedAt !== null;

  it("of a detach leaves the log with all facts or detached, and it goes on", async () => {
    const places = await failAtEach(detach, {
      isDone: isDetached,
      undo: () => attach(database.db),
    });
    expect(places).toBeGreaterThan(20);
    await attach(database.db);
    expect(await hashOfLog(database.db)).toBe(complete);
  }, 600_000);

  it("of an attachment as well", async () => {
    await detach(database.db);
    const places = await failAtEach(attach, {
      isDone: async () => !(await isDetached()),
      undo: async () => void (await detach(database.db)),
    });
    expect(places).toBeGreaterThan(20);
    expect(await hashOfLog(database.db)).toBe(complete);
  }, 600_000);
});
