import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { pendingMigrations } from "#projections/log/schema.ts";
import { applyRights } from "#ops/postgres/rights.ts";
import { addressesOf, configuredRoles, type DatabaseAddresses, areSeparate, readDatabaseRoles } from "#ops/postgres/database-roles.ts";
import { createEmbeddedRoles } from "#ops/postgres/embedded-roles.ts";
import { migrate } from "#ops/postgres/migrate.ts";
import { assertLogin, placeOf, throwIfRefused } from "#ops/postgres/answering-server.ts";
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
  { config, logger, signal }: Pick<SupervisorContext, "config" | "logger" | "signal">,
): Promise<void> {
  await untilAnswers(db, { url: addresses.DATABASE_URL, logger, signal });
  const users = Object.entries(addresses).filter(([name]) => name !== "DATABASE_URL");
  for (const [name, url] of users) await assertLogin(name, url);
  await checkAddresses(addresses, config.database.poolerUrl, logger);
  const startedAt = performance.now();
  const pending = await pendingMigrations(db);
  await migrateUntil(signal, db, addresses.DATABASE_URL);
  const durationMs = Math.round(performance.now() - startedAt);
  logger.info({ migrations: pending.length, durationMs }, "database migrated");
  await grantRights(db, addresses, logger);
}

type AwaitedServer = Pick<SupervisorContext, "logger" | "signal"> & { url: string };

/** Waits for as long as nothing answers, which is logged once for each reason. Throws where the server refuses the address. */
async function untilAnswers(db: Database, { url, logger, signal }: AwaitedServer): Promise<void> {
  for (let logged = ""; ; ) {
    signal.throwIfAborted();
    const error = await sql`select 1`.execute(db).then(
      () => undefined,
      (reason: Error) => reason,
    );
    if (error === undefined) return;
    throwIfRefused(error, "DATABASE_URL", url);
    const { message: reason } = error;
    if (reason !== logged)
      logger.warn(
        { setting: "DATABASE_URL", server: placeOf(url), reason },
        "database does not answer, retrying",
      );
    logged = reason;
    await delay(1_000, undefined, { signal });
  }
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
    const remaining = await applyRights(admin, roles);
    for (const { role, finding } of remaining.slice(0, 10)) {
      logger.warn({ role, finding }, "database rights differ: run op roles grant");
    }
  } finally {
    await admin.destroy();
  }
}
