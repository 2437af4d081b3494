import { readFile, writeFile } from "node:fs/promises";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { migrate } from "../../../api/run/postgres/migrate.ts";
import { type Database, openDatabase } from "../../../projections/database.ts";
import { pendingMigrations } from "../../../projections/log/pending-migrations.ts";
import { dumpSchema, type SchemaDump } from "../../support/database/dump-schema.ts";
import { createDatabase, type TestDatabase } from "../../support/database/postgres.ts";

let database: TestDatabase;
let db: Database;
/** As the processes open it that migrate: several statements go together, of which none can be prepared. */
beforeEach(async () => {
  database = await createDatabase();
  const options = { url: database.url, applicationName: "migrations", onIdleError: () => {} };
  db = openDatabase(options);
});
afterEach(async () => {
  await db?.destroy();
  await database?.drop();
});

/** The files that say what stands, and the schemas of each; written anew with `UPDATE_SCHEMA=1`. */
const files: [file: string, schemas: string[], part: (dump: SchemaDump) => string][] = [
  ["projections/log/schema.sql", ["log", "ops", "engine"], ({ tables }) => tables],
  ["projections/log/functions.sql", ["log", "ops", "engine"], ({ functions }) => functions],
  ["projections/reads/rarity/schema.sql", ["rarity"], ({ tables }) => tables],
  [
    "api/serve/accounts/schema.sql",
    ["access"],
    ({ tables, functions }) => `${tables}\n${functions}`,
  ],
];

async function expectAsFiles(db: Database): Promise<void> {
  for (const [file, schemas, partOf] of files) {
    const path = new URL(`../../../${file}`, import.meta.url);
    const dumped = partOf(await dumpSchema(db, schemas));
    if (process.env.UPDATE_SCHEMA === "1") await writeFile(path, dumped);
    expect(dumped, file).toBe(await readFile(path, "utf8"));
  }
}

describe("a database", () => {
  it("has what the schema files say", async () => {
    await expectAsFiles(db);
  });

  it("has it too when it comes from the releases before there was one start", async () => {
    await makeFormer(db, ["0080-metadata-facts", "0081-history-proof"]);
    expect(await pendingMigrations(db)).toEqual(["0001-start"]);
    await migrate(db);
    expect(await pendingMigrations(db)).toEqual([]);
    await expectAsFiles(db);
  });

  it("is refused when it lacks the last migration of those releases, and is as it was", async () => {
    await makeFormer(db, ["0080-metadata-facts"]);
    await expect(migrate(db)).rejects.toThrow("the database lacks 0081-history-proof");
    expect(await pendingMigrations(db)).toEqual(["0001-start"]);
  });

  it("is refused when those releases moved facts to archives alone", async () => {
    await makeFormer(db, ["0081-history-proof"]);
    await sql`insert into log.archive values (0, now())`.execute(db);
    await expect(migrate(db)).rejects.toThrow("facts are in archives alone");
  });
});

/** What this release lacks and those had. */
async function makeFormer(db: Database, applied: readonly string[]): Promise<void> {
  const statements = `
    drop table ops.migration;
    create table ops.kysely_migration (name text);
    create table ops.kysely_migration_lock ();
    create table ops.later_migration (name text);
    create table ops.later_migration_lock ();
    create table log.archive (first_position bigint, detached_at timestamptz);
    create table log.detached_block ();
    create table log.detached_range ();
    create table ops.moved_chain ();
    create table ops.arriving_chain ();
    create function log.refuse_moved_chain() returns trigger language plpgsql as 'begin end';
    create function log.remove_detached_from_stage(bigint[]) returns void language sql as '';
    create or replace function log.analyze_facts() returns boolean language sql as 'select false';
    alter table log.head alter column partitions_end drop not null`;
  for (const statement of statements.split(";")) await sql.raw(statement).execute(db);
  for (const name of applied)
    await sql`insert into ops.later_migration values (${name})`.execute(db);
}
