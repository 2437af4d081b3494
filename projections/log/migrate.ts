import { type Migration, Migrator, sql } from "kysely";
import type { Database } from "../database.ts";
import { withLock } from "../named-lock.ts";
import { up as log } from "./migrations/0001-log.ts";
import { up as indexer } from "./migrations/0002-indexer.ts";
import { up as append } from "./migrations/0003-append.ts";
import { up as engine } from "./migrations/0004-engine.ts";
import { up as lease } from "./migrations/0005-lease.ts";
import { up as switches } from "./migrations/0006-switch.ts";
import { up as orders } from "./migrations/0007-orders.ts";
import { up as keys } from "./migrations/0008-keys.ts";
import { up as rarity } from "./migrations/0009-rarity.ts";
import { up as quarantine } from "./migrations/0010-quarantine.ts";
import { up as accounts } from "./migrations/0011-accounts.ts";
import { up as partners } from "./migrations/0012-partners.ts";
import { up as scratch } from "./migrations/0013-scratch.ts";
import { up as submissions } from "./migrations/0015-submissions.ts";
import { up as appendOnce } from "./migrations/0016-append-once.ts";
import { up as leftOut } from "./migrations/0017-left-out.ts";
import { up as crossListings } from "./migrations/0018-cross-listings.ts";
import { up as plainNames } from "./migrations/0019-plain-names.ts";
import { up as royalties } from "./migrations/0021-royalties.ts";
import { up as orderBudgets } from "./migrations/0023-order-budgets.ts";
import { up as auditCommand } from "./migrations/0028-audit-command.ts";
import { up as analysts } from "./migrations/0030-analysts.ts";
import { up as appendFunctions } from "./migrations/0031-append-functions.ts";
import { up as accountSecurity } from "./migrations/0035-account-security.ts";
import { up as requestPaths } from "./migrations/0036-request-paths.ts";
import { up as tokenSubmissions } from "./migrations/0040-token-submissions.ts";
import { up as search } from "./migrations/0041-search.ts";
import { up as instantKeyShares } from "./migrations/0042-instant-key-shares.ts";
import { up as sources } from "./migrations/0044-sources.ts";
import { up as outgoingCalls } from "./migrations/0046-outgoing-calls.ts";
import { up as exchangeContext } from "./migrations/0050-exchange-context.ts";
import { up as pools } from "./migrations/0051-pools.ts";
import { up as operatorConsole } from "./migrations/0058-console.ts";
import { up as contractsOfCollections } from "./migrations/0059-contracts-of-collections.ts";
import { up as transfersInOrder } from "./migrations/0064-transfers-in-order.ts";
import { up as cells } from "./migrations/0066-cells.ts";
import { up as projectingLease } from "./migrations/0067-projecting-lease.ts";
import { up as analyticsEngines } from "./migrations/0070-analytics-engines.ts";
import { up as logPartitions } from "./migrations/0071-log-partitions.ts";
import { up as logArchives } from "./migrations/0072-log-archives.ts";
import { up as detachedFacts } from "./migrations/0073-detached-facts.ts";
import { up as newestReadings } from "./migrations/0074-newest-readings.ts";
import { up as transactionParts } from "./migrations/0075-transaction-parts.ts";
import { up as orderRechecks } from "./migrations/0076-order-rechecks.ts";
import { up as orderReadings } from "./migrations/0077-order-readings.ts";
import { up as tokenApprovals } from "./migrations/0079-token-approvals.ts";
import { up as metadataFacts } from "./migrations/0080-metadata-facts.ts";
import { up as historyProof } from "./migrations/0081-history-proof.ts";
import { up as noDetachedFacts } from "./migrations/0082-no-detached-facts.ts";
import { completeIndexes } from "./partitions/complete-indexes.ts";
import { partitionLog } from "./partitions/partition-log.ts";

/** Numbered, forward only. A released one is never edited. */
const migrations: Record<string, Migration> = {
  "0001-log": { up: log },
  "0002-indexer": { up: indexer },
  "0003-append": { up: append },
  "0004-engine": { up: engine },
  "0005-lease": { up: lease },
  "0006-switch": { up: switches },
  "0007-orders": { up: orders },
  "0008-keys": { up: keys },
  "0009-rarity": { up: rarity },
  "0010-quarantine": { up: quarantine },
  "0011-accounts": { up: accounts },
  "0012-partners": { up: partners },
  "0013-scratch": { up: scratch },
  "0015-submissions": { up: submissions },
  "0016-append-once": { up: appendOnce },
  "0017-left-out": { up: leftOut },
  "0018-cross-listings": { up: crossListings },
  "0019-plain-names": { up: plainNames },
  "0021-royalties": { up: royalties },
  "0023-order-budgets": { up: orderBudgets },
  "0028-audit-command": { up: auditCommand },
  "0030-analysts": { up: analysts },
  "0031-append-functions": { up: appendFunctions },
  "0035-account-security": { up: accountSecurity },
  "0036-request-paths": { up: requestPaths },
  "0040-token-submissions": { up: tokenSubmissions },
  "0041-search": { up: search },
  "0042-instant-key-shares": { up: instantKeyShares },
  "0044-sources": { up: sources },
  "0046-outgoing-calls": { up: outgoingCalls },
  "0050-exchange-context": { up: exchangeContext },
  "0051-pools": { up: pools },
  "0058-console": { up: operatorConsole },
  "0059-contracts-of-collections": { up: contractsOfCollections },
  "0064-transfers-in-order": { up: transfersInOrder },
  "0066-cells": { up: cells },
  "0067-projecting-lease": { up: projectingLease },
  "0070-analytics-engines": { up: analyticsEngines },
  "0071-log-partitions": { up: logPartitions },
  "0072-log-archives": { up: logArchives },
  "0073-detached-facts": { up: detachedFacts },
  "0074-newest-readings": { up: newestReadings },
  "0075-transaction-parts": { up: transactionParts },
  "0076-order-rechecks": { up: orderRechecks },
  "0077-order-readings": { up: orderReadings },
  "0079-token-approvals": { up: tokenApprovals },
  "0080-metadata-facts": { up: metadataFacts },
  "0081-history-proof": { up: historyProof },
  "0082-no-detached-facts": { up: noDetachedFacts },
};

/**
 * The last migration that is recorded in Kysely's own table. Releases up to it refuse a database with migrations there that
 * they do not know: later ones are recorded in another table, so that a release may be rolled back to one of those.
 */
const lastOfFirst = "0058-console";
const tables = { first: "kysely_migration", later: "later_migration" } as const;
const all = Object.entries(migrations);
const parts = [
  { table: tables.first, own: Object.fromEntries(all.filter(([name]) => name <= lastOfFirst)) },
  { table: tables.later, own: Object.fromEntries(all.filter(([name]) => name > lastOfFirst)) },
];

/** Migrations of a later release are left alone: this one may have been rolled back to. */
async function migratorOf(db: Database, { table, own }: (typeof parts)[number]): Promise<Migrator> {
  const applied = await readApplied(db, table);
  const foreign = Object.fromEntries(applied.map((name) => [name, { up: async () => {} }]));
  return new Migrator({
    db,
    provider: { getMigrations: async () => ({ ...foreign, ...own }) },
    migrationTableSchema: "ops",
    migrationTableName: table,
    migrationLockTableName: `${table}_lock`,
    // Branches add migrations of different tables at the same time.
    allowUnorderedMigrations: true,
  });
}

async function readApplied(db: Database, table: string): Promise<string[]> {
  const { rows } = await sql<{ exists: boolean }>`
    select to_regclass(${`ops.${table}`}) is not null as exists`.execute(db);
  if (rows[0]?.exists !== true) return [];
  const applied = await sql<{ name: string }>`select name from ${sql.id("ops", table)}`.execute(db);
  return applied.rows.map(({ name }) => name);
}

/** Brings the database to this version. Safe to run from several processes at once. */
export async function migrate(db: Database): Promise<void> {
  await withLock(db, "migrations", async () => {
    for (const part of parts) {
      if (part.table === tables.later) await moveLater(db);
      const { error } = await (await migratorOf(db, part)).migrateToLatest();
      if (error !== undefined) throw error;
    }
    await partitionLog(db);
    await completeIndexes(db);
  });
}

/** Databases of the weeks before the second table have later migrations in the first. */
async function moveLater(db: Database): Promise<void> {
  const moved = (await readApplied(db, tables.first)).filter((name) => name > lastOfFirst);
  if (moved.length === 0) return;
  await db.transaction().execute(async (session) => {
    await sql`
      create table if not exists ${sql.id("ops", tables.later)}
        (name varchar(255) primary key, timestamp varchar(255) not null)`.execute(session);
    await sql`
      with moved as (
        delete from ${sql.id("ops", tables.first)} where name > ${lastOfFirst} returning name, timestamp
      )
      insert into ${sql.id("ops", tables.later)} select name, timestamp from moved`.execute(
      session,
    );
  });
}

/** Names of the migrations that the database still lacks. */
export async function pendingMigrations(db: Database): Promise<string[]> {
  const applied = await Promise.all(Object.values(tables).map((table) => readApplied(db, table)));
  const done = new Set(applied.flat());
  return all.flatMap(([name]) => (done.has(name) ? [] : [name]));
}
