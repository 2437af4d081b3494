import { readFile, writeFile } from "node:fs/promises";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { migrate } from "#ops/postgres/migrate.ts";
import { firstBlockId } from "#projections/log/blocks.ts";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { pendingMigrations } from "#projections/log/schema.ts";
import { dumpSchema, type SchemaDump } from "#test/support/database/dump-schema.ts";
import {
  addressOf,
  appendEvents,
  type Block,
  block,
  type ChainEvent,
} from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";

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
  ["projections/traits/rarity.sql", ["rarity"], ({ tables }) => tables],
  ["api/accounts/schema.sql", ["access"], ({ tables, functions }) => `${tables}\n${functions}`],
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
    expect(await pendingMigrations(db)).toEqual([
      "0001-start",
      "0002-chain-ordinals",
      "0003-jobs",
      "0004-token-sets",
      "0005-webhooks",
      "0006-order-events",
      "0007-wallets",
      "0008-snapshots",
      "0009-store-staged",
      "0010-differing-blocks",
      "0011-request-log",
      "0012-passkeys",
    ]);
    await migrate(db);
    expect(await pendingMigrations(db)).toEqual([]);
    await expectAsFiles(db);
  });

  it("has it too when it comes from the release before chains had ordinals, with the same ids", async () => {
    const blocks = [block(1, 7), block(33139, 7)];
    await appendEvents(db, blocks.map(transferIn));
    const before = await readBlockIds(db);
    await makeWithoutOrdinals(db);
    await sql`delete from ops.migration where name = '0002-chain-ordinals'`.execute(db);
    expect(await pendingMigrations(db)).toEqual(["0002-chain-ordinals"]);
    await migrate(db);
    await expectAsFiles(db);
    expect(before).toEqual(
      blocks.map(({ chainId, number }) => firstBlockId(chainId, BigInt(number))),
    );
    await appendEvents(db, [...blocks, block(33139, 7, "fork")].map(transferIn));
    expect(await readBlockIds(db)).toEqual([...before, firstBlockId(33139, 7n) + 1n]);
  });

  it("has it too when it comes from the release before order events", async () => {
    await sql`drop table engine.book, engine.book_order, engine.book_price, engine.order_event`.execute(
      db,
    );
    await sql`delete from ops.migration where name = '0006-order-events'`.execute(db);
    expect(await pendingMigrations(db)).toEqual(["0006-order-events"]);
    await migrate(db);
    await expectAsFiles(db);
  });

  it("has it too when it comes from the release before wallets", async () => {
    await sql.raw(withoutWallets).execute(db);
    await sql`delete from ops.migration where name = '0007-wallets'`.execute(db);
    expect(await pendingMigrations(db)).toEqual(["0007-wallets"]);
    await migrate(db);
    await expectAsFiles(db);
  });

  it("has it too when it comes from the release before snapshots", async () => {
    await sql`drop table ops.holder_snapshot, ops.snapshot_holder`.execute(db);
    await sql`delete from ops.migration where name = '0008-snapshots'`.execute(db);
    await migrate(db);
    await expectAsFiles(db);
  });

  it("has it too when it comes from the release that stored what is staged by another function", async () => {
    await sql`
      create or replace function log.store_staged(base bigint, chains integer[], hashes bytea[], ids bigint[],
        is_small boolean, before bigint) returns bigint language sql as 'select 0::bigint'`.execute(
      db,
    );
    await sql`delete from ops.migration where name = '0009-store-staged'`.execute(db);
    await migrate(db);
    await expectAsFiles(db);
  });

  it("has it too when it comes from the release that counted differing blocks; such a proof begins anew", async () => {
    await sql.raw(withoutBlocks).execute(db);
    await sql`
      insert into ops.history_proof (chain_id, sources, first_number, proved_from, proved_to, parent_hash, head_hash, differing)
      values (1, 'main', 1, 1, 9, '0x', '0x', 0), (33139, 'main', 1, 1, 9, '0x', '0x', 2)`.execute(
      db,
    );
    await sql`delete from ops.migration where name = '0010-differing-blocks'`.execute(db);
    await migrate(db);
    await expectAsFiles(db);
    const { rows } = await sql`select chain_id, differing from ops.history_proof`.execute(db);
    expect(rows).toEqual([{ chain_id: 1, differing: [] }]);
  });

  it("has it too when it comes from the release whose requests had no codes", async () => {
    await sql.raw(withoutCodes).execute(db);
    await sql`delete from ops.migration where name = '0011-request-log'`.execute(db);
    await migrate(db);
    await expectAsFiles(db);
  });

  it("has it too when it comes from the release before passkeys", async () => {
    await sql`drop table access.passkey`.execute(db);
    await sql`comment on table access.siwe_nonce is 'for one'`.execute(db);
    await sql`comment on table access.pending_sign_in is 'a code'`.execute(db);
    await sql`delete from ops.migration where name = '0012-passkeys'`.execute(db);
    await migrate(db);
    await expectAsFiles(db);
  });

  it("is refused when its ids are made of other ordinals than the list's", async () => {
    await sql`update log.chain set ordinal = 2 where chain_id = 33139`.execute(db);
    await expect(migrate(db)).rejects.toThrow("has 2 for chain 33139: ordinals are permanent");
    await expect(pendingMigrations(db)).rejects.toThrow("ordinals are permanent");
  });

  it("is refused when it has given an ordinal of the list to another chain", async () => {
    await sql`update log.chain set chain_id = 7777777 where chain_id = 33139`.execute(db);
    await expect(migrate(db)).rejects.toThrow("has 33139 for chain 7777777");
  });

  it("takes chains that the list has since", async () => {
    await sql`delete from log.chain where chain_id = 33139`.execute(db);
    await expect(appendEvents(db, [transferIn(block(33139, 7))])).rejects.toThrow(
      "block 7 of chain 33139 exceeds what a block id holds, or log.chain lacks the chain",
    );
    expect(await pendingMigrations(db)).toEqual(["chain-33139"]);
    await migrate(db);
    await appendEvents(db, [transferIn(block(33139, 7))]);
    expect(await readBlockIds(db)).toEqual([firstBlockId(33139, 7n)]);
  });

  it("is refused when it lacks the last migration of those releases, and is as it was", async () => {
    await makeFormer(db, ["0080-metadata-facts"]);
    await expect(migrate(db)).rejects.toThrow("the database lacks 0081-history-proof");
    expect(await pendingMigrations(db)).toEqual([
      "0001-start",
      "0002-chain-ordinals",
      "0003-jobs",
      "0004-token-sets",
      "0005-webhooks",
      "0006-order-events",
      "0007-wallets",
      "0008-snapshots",
      "0009-store-staged",
      "0010-differing-blocks",
      "0011-request-log",
      "0012-passkeys",
    ]);
  });

  it("is refused when those releases moved facts to archives alone", async () => {
    await makeFormer(db, ["0081-history-proof"]);
    await sql`insert into log.archive values (0, now())`.execute(db);
    await expect(migrate(db)).rejects.toThrow("facts are in archives alone");
  });
});

const transferIn = (of: Block): ChainEvent => ({
  ...{ kind: "erc721_transfer", block: of, logIndex: 0, contract: addressOf(50), tokenId: 7n },
  ...{ from: addressOf(1), to: addressOf(2) },
});

async function readBlockIds(db: Database): Promise<bigint[]> {
  const { rows } = await sql<{ id: bigint }>`
    select block_id as id from log.block order by block_id`.execute(db);
  return rows.map(({ id }) => id);
}

async function makeWithoutOrdinals(db: Database): Promise<void> {
  const statements = `
    drop table log.chain;
    alter table log.block drop constraint block_id_holds_number;
    alter table log.block add constraint block_id_holds_chain_and_number
      check ((block_id >> 12) = ((chain_id::bigint << 32) | number))`;
  for (const statement of statements.split(";")) await sql.raw(statement).execute(db);
}

const withoutWallets = `
  drop table access.wallet, access.siwe_nonce;
  alter table access.account drop constraint account_check;
  alter table access.account alter email set not null, alter password set not null;`;

const withoutBlocks = `
  alter table ops.history_proof alter differing drop default, alter differing type bigint using 0,
    alter differing set default 0`;

const withoutCodes =
  "alter table access.key_request drop column query, drop column code, drop column request_id";

/** What this release lacks and those had. */
async function makeFormer(db: Database, applied: readonly string[]): Promise<void> {
  const statements = `
    drop table ops.migration;
    drop table ops.job;
    drop table access.webhook_delivery, access.webhook;
    drop table engine.book, engine.book_order, engine.book_price, engine.order_event;
    ${withoutWallets}
    drop table ops.holder_snapshot, ops.snapshot_holder, access.passkey;
    ${withoutBlocks};
    ${withoutCodes};
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
  await makeWithoutOrdinals(db);
}
