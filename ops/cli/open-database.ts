import { sql } from "kysely";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { pendingMigrations } from "#projections/log/schema.ts";
import type { Config } from "../config/config.ts";
import { readConfig, readEnvironment } from "../config/read-config.ts";
import { createLogger } from "../output/logger.ts";
import { askServer, throwIfRefused } from "../postgres/answering-server.ts";
import { type DatabaseRoles, readDatabaseRoles } from "../postgres/database-roles.ts";
import { startPostgres } from "../postgres/embedded.ts";
import { startOrphanGuard } from "../processes/child.ts";
import { isServiceStarting, mergeInstallation } from "../processes/installation.ts";

export type Opened = { db: Database; config: Config; url: string };

/** Whose rights the command has. `admin`: of a user who may administer roles. */
type OpenOptions = {
  mayLackMigrations?: boolean;
  as?: "owner" | "indexer" | "projector" | "admin";
};

/** Milliseconds after which the server cancels the statement of a killed command. */
const CHECK_CLIENT_MS = 1_000;

/**
 * Opens the configured database for a command. An embedded one that is not running is started for its duration. What a
 * command creates must be the owner's, or that of the process which goes on with it.
 */
export async function withDatabase<Result>(
  command: string,
  work: (opened: Opened) => Promise<Result>,
  { mayLackMigrations = false, as = "owner" }: OpenOptions = {},
): Promise<Result> {
  const config = readConfig(mergeInstallation(readEnvironment()));
  const { adminUrl } = config.database;
  const server = config.database.url === null ? await startEmbedded(config) : undefined;
  const place = server?.url ?? config.database.url ?? "";
  const isAdmin = as === "admin" && server === undefined && adminUrl !== null;
  const login = isAdmin ? adminUrl : place;
  // What does not answer fails below, with its reason.
  const answering = await askServer(login).catch((error: unknown) => {
    throwIfRefused(error, isAdmin ? "DATABASE_URL_ADMIN" : "DATABASE_URL", login);
    return undefined;
  });
  if (answering?.isPooled) throw new Error(behindPooler);
  const url = as === "admin" ? login : await asRole(login, as);
  const db = openDatabase({
    url: withOption(url, `client_connection_check_interval=${CHECK_CLIENT_MS}`),
    applicationName: `op ${command}`,
    max: 4,
    onIdleError: () => {},
  });
  try {
    if (!mayLackMigrations) await assertMigrated(db);
    return await work({ db, config, url });
  } finally {
    await db.destroy();
    await server?.stop();
  }
}

const behindPooler =
  "DATABASE_URL leads to a pooler. Set it to the database itself, and DATABASE_POOLER_URL to the pooler";

async function startEmbedded({ dataDir, database, log }: Config) {
  const orphanGuard = startOrphanGuard();
  const sink = (line: string) => void process.stderr.write(`${line}\n`);
  if (isServiceStarting(dataDir)) throw new Error(serviceIsStarting);
  return await startPostgres({
    dataDir,
    replicates: database.replicates,
    ...(database.port === null ? {} : { port: database.port }),
    logger: createLogger("op", log.level, sink),
    onSpawn: (pid) => orphanGuard.add(pid, "SIGINT"),
  });
}

const serviceIsStarting =
  "the service in DATA_DIR is starting: run this again once it has printed `ready`";

/** The address with which statements run as the database role of a process, where it has one. */
async function asRole(url: string, process: keyof DatabaseRoles): Promise<string> {
  const db = openDatabase({ url, applicationName: "op", max: 1, onIdleError: () => {} });
  try {
    const role = (await readDatabaseRoles(db))?.[process];
    if (role === undefined) return url;
    const { rows } = await sql<{ switches: boolean }>`
      select current_user <> ${role} and pg_has_role(oid, 'member') as switches
      from pg_roles where rolname = ${role}`.execute(db);
    return rows[0]?.switches ? withOption(url, `role=${role.replaceAll(/[\\ ]/g, "\\$&")}`) : url;
  } finally {
    await db.destroy();
  }
}

/** The address of a database with a parameter of its sessions. */
function withOption(url: string, setting: string): string {
  const parsed = new URL(url);
  const given = parsed.searchParams.get("options");
  const option = `-c ${setting}`;
  parsed.searchParams.set("options", given === null ? option : `${given} ${option}`);
  return parsed.href;
}

async function assertMigrated(db: Database): Promise<void> {
  const pending = await pendingMigrations(db);
  if (pending.length === 0) return;
  throw new Error(
    `the database lacks ${pending.join(", ")}: run \`op migrate\` or start the service`,
  );
}
