import { sql } from "kysely";
import { type Database, openDatabase } from "../../../../projections/database.ts";
import { mainCell } from "../../../../projections/log/cells/main-cell.ts";
import { readHeldChains } from "../../../../projections/log/cells/read-held-chains.ts";
import { pendingMigrations } from "../../../../projections/log/migrate.ts";
import type { Config } from "../../config/config.ts";
import { ConfigurationError } from "../../config/configuration-error.ts";
import { readConfig, readEnvironment } from "../../config/read-config.ts";
import { maskUrl } from "../../config/setting.ts";
import { type DatabaseRoles, readDatabaseRoles } from "../../database-roles/database-roles.ts";
import { createLogger } from "../../output/logger.ts";
import { askServer } from "../../postgres/answering-server.ts";
import { startPostgres } from "../../postgres/embedded.ts";
import { throwIfRefused } from "../../postgres/refused-login.ts";
import { accountsCell, asUserOf, configuredCells } from "../../roles/configured-cells.ts";
import { isServiceStarting, mergeInstallation } from "../../supervisor/installation.ts";
import { startOrphanGuard } from "../../supervisor/orphan-guard.ts";

export type Opened = {
  db: Database;
  config: Config;
  url: string;
  /** Of the main cell. */
  mainUrl: string;
  cell: WorkedCell;
};

/** A database that a command works on. */
export type WorkedCell = {
  name: string;
  /** Without a password. */
  address: string;
  /** Whether the command works on others, too. */
  isOneOfSeveral: boolean;
  /** Chains that other databases serve. */
  elsewhere: readonly number[];
};

/** Whose rights the command has. `admin`: of a user who may administer roles. */
type OpenOptions = {
  mayLackMigrations?: boolean;
  as?: "owner" | "indexer" | "projector" | "admin";
  /** The database of accounts and keys, whatever the command works on. Default: of chains. */
  holds?: "accounts";
};

let chosen: Pick<WorkedCell, "name" | "isOneOfSeveral"> = { name: mainCell, isOneOfSeveral: false };
/** The database that the following command works on: `main`, `accounts`, or that of a chain. */
export function chooseCell(name: string, isOneOfSeveral: boolean): void {
  chosen = { name, isOneOfSeveral };
}

/** Milliseconds after which the server cancels the statement of a killed command. */
const CHECK_CLIENT_MS = 1_000;

/**
 * Opens the configured database for a command. An embedded one that is not running is started for its duration. What a
 * command creates must be the owner's, or that of the process which goes on with it.
 */
export async function withDatabase<Result>(
  command: string,
  work: (opened: Opened) => Promise<Result>,
  { mayLackMigrations = false, as = "owner", holds }: OpenOptions = {},
): Promise<Result> {
  const whole = readConfig(mergeInstallation(readEnvironment()));
  const server = whole.database.url === null ? await startEmbedded(whole) : undefined;
  const main = server?.url ?? whole.database.url ?? "";
  const { config, elsewhere, url: place } = await placeOf(whole, main, holds ?? chosen.name);
  const { adminUrl } = config.database;
  const isAdmin = as === "admin" && server === undefined;
  const login = isAdmin ? asUserOf(adminUrl, place) : place;
  // What does not answer fails below, with its reason.
  const answering = await askServer(login).catch((error: unknown) => {
    throwIfRefused(
      error,
      isAdmin && adminUrl !== null ? "DATABASE_URL_ADMIN" : "DATABASE_URL",
      login,
    );
    return undefined;
  });
  if (answering?.isPooled) throw new Error(behindPooler);
  const url = as === "admin" ? login : await asRole(login, as);
  const db = openDatabase({
    url: commandAddress(url),
    applicationName: `op ${command}`,
    max: 4,
    onIdleError: () => {},
  });
  try {
    if (!mayLackMigrations) await assertMigrated(db);
    const cell = { ...chosen, elsewhere, address: maskUrl(place) };
    return await work({ db, config, url, mainUrl: main, cell });
  } finally {
    await db.destroy();
    await server?.stop();
  }
}

/** The same with the database of accounts, keys and limits. */
export const withAccounts = <Result>(
  command: string,
  work: (opened: Opened) => Promise<Result>,
): Promise<Result> => withDatabase(command, work, { holds: accountsCell });

/** A command works on one database, and on the chains that it serves. */
async function placeOf(
  config: Config,
  main: string,
  name: string,
): Promise<{ url: string; config: Config; elsewhere: number[] }> {
  const { database } = config;
  if (name === accountsCell) {
    const url = database.accountsUrl ?? main;
    const elsewhere = config.chains.map(({ chainId }) => chainId);
    return { url, config: { ...config, chains: [] }, elsewhere };
  }
  const cells = configuredCells(config, main);
  const cell = cells.find((one) => one.name === name);
  if (cell === undefined)
    throw new ConfigurationError([`--cell: expected ${cells.map((one) => one.name).join(" or ")}`]);
  const ofOthers = cells.slice(1).flatMap(({ chains }) => chains.map(({ chainId }) => chainId));
  const held = ofOthers.length === 0 ? new Set<number>() : await readHeld(main, ofOthers);
  const chains = cell.chains.filter(({ chainId }) =>
    name === mainCell ? !ofOthers.includes(chainId) || held.has(chainId) : !held.has(chainId),
  );
  const { poolerUrl, replicas } = cell.database;
  const own = { ...database, url: cell.database.url, poolerUrl, replicas };
  const { analytics } = cell;
  return {
    url: cell.database.url,
    config: { ...config, chains, database: own, analytics },
    elsewhere: config.chains.filter((one) => !chains.includes(one)).map(({ chainId }) => chainId),
  };
}

/** Before the first migration no chain is anywhere. */
async function readHeld(url: string, chains: readonly number[]): Promise<Set<number>> {
  const db = openDatabase({ url, applicationName: "op", max: 1, onIdleError: () => {} });
  try {
    const pending = await pendingMigrations(db);
    return pending.length > 0 ? new Set(chains) : await readHeldChains(db, chains);
  } finally {
    await db.destroy();
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

/** The address of a database for the statements of a command, which the server ends when the command is killed. */
export const commandAddress = (url: string): string =>
  withOption(url, `client_connection_check_interval=${CHECK_CLIENT_MS}`);

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
