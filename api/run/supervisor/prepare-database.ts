import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { type Database, openDatabase } from "../../../projections/database.ts";
import { migrate, pendingMigrations } from "../../../projections/log/migrate.ts";
import type { Config } from "../config/config.ts";
import { applyRights } from "../database-roles/apply-rights.ts";
import {
  addressesOf,
  configuredRoles,
  type DatabaseAddresses,
} from "../database-roles/configured-roles.ts";
import { areSeparate, readDatabaseRoles } from "../database-roles/database-roles.ts";
import { createEmbeddedRoles } from "../database-roles/embedded-roles.ts";
import { asUserOf, isSameDatabase } from "../roles/configured-cells.ts";
import { checkAddresses } from "./check-addresses.ts";
import { startDatabase } from "./start-database.ts";
import type { SupervisorContext } from "./supervisor-context.ts";

/**
 * The addresses that are configured, or those of the embedded database, which is started and has a user for each process;
 * `onLocked` as for `startDatabase`.
 */
export async function openAddresses(
  context: SupervisorContext,
  onLocked: () => void,
): Promise<DatabaseAddresses> {
  const { database, dataDir } = context.config;
  if (database.url !== null) return addressesOf({ ...database, url: database.url });
  const adminUrl = await startDatabase(context, onLocked);
  const { owner, ...processUrls } = await createEmbeddedRoles(adminUrl, dataDir);
  return addressesOf({ url: owner, processUrls, adminUrl });
}

/** Waits until the database answers, checks the addresses, migrates it, and gives each role its rights. A migration that fails is not retried. */
export async function prepareDatabase(
  db: Database,
  addresses: DatabaseAddresses,
  context: Pick<SupervisorContext, "config" | "logger" | "signal">,
): Promise<void> {
  await prepareOne(db, addresses, context, context.config.database.poolerUrl);
  for (const { url, poolerUrl } of otherDatabases(context.config, addresses.DATABASE_URL)) {
    const { database } = context.config;
    const asUsers = Object.entries({ ...database.processUrls, admin: database.adminUrl }).map(
      ([name, own]) => [name, own && asUserOf(own, url)],
    );
    const { admin = null, ...processUrls } = Object.fromEntries(asUsers);
    const own = addressesOf({ url, adminUrl: admin, processUrls });
    const other = openDatabase({
      url,
      applicationName: "supervisor",
      max: 2,
      onIdleError: (error) => context.logger.debug({ err: error }, "database connection lost"),
    });
    await prepareOne(other, own, context, poolerUrl).finally(() => other.destroy());
  }
}

type OtherDatabase = { readonly url: string; readonly poolerUrl: string | null };

/** Databases of single chains, and of accounts. */
function otherDatabases({ database }: Config, main: string): OtherDatabase[] {
  const { ofChains, accountsUrl } = database;
  const all = [
    ...ofChains,
    ...(accountsUrl === null ? [] : [{ url: accountsUrl, poolerUrl: null }]),
  ];
  return all.filter(
    ({ url }, index) =>
      !isSameDatabase(url, main) &&
      all.findIndex((other) => isSameDatabase(other.url, url)) === index,
  );
}

async function prepareOne(
  db: Database,
  addresses: DatabaseAddresses,
  { logger, signal }: Pick<SupervisorContext, "logger" | "signal">,
  poolerUrl: string | null,
): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    signal.throwIfAborted();
    const error = await sql`select 1`.execute(db).then(
      () => undefined,
      (reason: Error) => reason,
    );
    if (error === undefined) break;
    if (tries % 10 === 0) logger.warn({ reason: error.message }, "database does not answer");
    await delay(1_000, undefined, { signal });
  }
  await checkAddresses(addresses, poolerUrl, logger);
  const startedAt = performance.now();
  const pending = await pendingMigrations(db);
  await migrateUntil(signal, db, addresses.DATABASE_URL);
  const durationMs = Math.round(performance.now() - startedAt);
  logger.info({ migrations: pending.length, durationMs }, "database migrated");
  await grantRights(db, addresses, logger);
}

/** Ends the statement of a migration when the service is to stop: its transaction is rolled back. */
async function migrateUntil(signal: AbortSignal, db: Database, url: string): Promise<void> {
  const applicationName = `migrations ${randomUUID()}`;
  const migrating = openDatabase({ url, applicationName, max: 2, onIdleError: () => {} });
  const end = () =>
    void sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = ${applicationName}`
      .execute(db)
      // It is not there any more, and what it worked on has ended with it.
      .catch(() => {});
  signal.addEventListener("abort", end, { once: true });
  try {
    await migrate(migrating);
  } finally {
    signal.removeEventListener("abort", end);
    await migrating.destroy();
  }
  signal.throwIfAborted();
}

async function grantRights(
  db: Database,
  addresses: DatabaseAddresses,
  logger: SupervisorContext["logger"],
): Promise<void> {
  const roles = configuredRoles(addresses);
  if (!areSeparate(roles) && (await readDatabaseRoles(db)) === null) return;
  const admin = openDatabase({
    url: addresses.DATABASE_URL_ADMIN ?? addresses.DATABASE_URL,
    applicationName: "supervisor",
    max: 1,
    onIdleError: (error) => logger.debug({ err: error }, "database connection lost"),
  });
  try {
    const { remaining } = await applyRights(admin, roles);
    for (const { role, finding } of remaining.slice(0, 10)) {
      logger.warn({ role, finding }, "database rights differ: run op roles grant");
    }
  } finally {
    await admin.destroy();
  }
}
