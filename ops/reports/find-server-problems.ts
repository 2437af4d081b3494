import { statfs } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { oldestServer } from "#ops/postgres/migrate.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import { type Database, type DatabaseAddress, openDatabase } from "#projections/log/database.ts";
import { locksSchema } from "#projections/log/named-lock.ts";
import { areIndexesComplete } from "#projections/log/schema.ts";
import type { ReplicaAddress } from "../config/database-settings.ts";
import { askServer } from "../postgres/answering-server.ts";
import type { InspectedConfig } from "./inspected-config.ts";

/** A problem. A fault makes something fail or be wrong; others are notes. */
export type Finding = { about: string; isFault: boolean; finding: string; advice: string };

/** Free bytes below which a disk is reported as nearly full. */
const LEAST_BYTES = 5e9;
/** What one process of each role takes. */
const LEAST_CONNECTIONS = 130;
/** Seconds after which an open transaction is reported: vacuum cannot remove rows that it may read. One that holds a lock of ours may read none. */
const LONG_SECONDS = 60;

type ServerSettings = {
  version: number;
  fsync: string;
  fullPageWrites: string;
  autovacuum: string;
  connections: number;
};

/** The server's version and settings, transactions that stay open, and a log whose partitions or their indexes could not be made yet. */
export async function checkServer(db: Database): Promise<Finding[]> {
  const { rows } = await sql<ServerSettings>`
    select current_setting('server_version_num')::int as version, current_setting('fsync') as fsync,
           current_setting('full_page_writes') as "fullPageWrites", current_setting('autovacuum') as autovacuum,
           current_setting('max_connections')::int as connections`.execute(db);
  const open = await sql<{ pid: number; name: string; seconds: number }>`
    select pid, application_name as name, extract(epoch from now() - xact_start)::int as seconds
    from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and xact_start < now() - make_interval(secs => ${LONG_SECONDS})
      and not exists (
        select from pg_locks l join pg_class v on v.oid = l.relation
        where l.pid = pg_stat_activity.pid and v.relnamespace = to_regnamespace(${locksSchema})
      )
    order by xact_start`.execute(db);
  return [
    ...rows.flatMap(checkSettings),
    ...open.rows.map(({ pid, name, seconds }) => ({
      about: "database",
      isFault: false,
      finding: `a transaction of "${name}" (process ${pid}) has been open for ${seconds} s`,
      advice: `if it is not needed: select pg_terminate_backend(${pid})`,
    })),
    ...((await areIndexesComplete(db)) ? [] : [lacksIndex]),
  ];
}

const lacksIndex: Finding = {
  about: "database",
  isFault: false,
  finding:
    "an index of log.fact is not built in every partition: the migration that does was ended",
  advice: "op migrate, when no transaction is open for long",
};

function checkSettings(server: ServerSettings): Finding[] {
  const findings: [boolean, boolean, string, string][] = [
    [
      Math.floor(server.version / 10_000) !== oldestServer,
      true,
      `PostgreSQL ${Math.floor(server.version / 10_000)}`,
      `version ${oldestServer} is needed, and tested`,
    ],
    [server.fsync === "off", true, "fsync is off", "a crash of the machine may lose the log"],
    [
      server.fullPageWrites === "off",
      true,
      "full_page_writes is off",
      "a crash of the machine may damage the log",
    ],
    [server.autovacuum === "off", true, "autovacuum is off", "tables grow without limit"],
    [
      server.connections < LEAST_CONNECTIONS,
      false,
      `max_connections is ${server.connections}`,
      `one process of each role uses up to ${LEAST_CONNECTIONS}, each further api process 30`,
    ],
  ];
  return findings
    .filter(([applies]) => applies)
    .map(([, isFault, finding, advice]) => ({ about: "database", isFault, finding, advice }));
}

/** Checks the disk of the embedded PostgreSQL; that of another server is not known. */
export async function checkDisk({ database, dataDir }: InspectedConfig): Promise<Finding[]> {
  if (database.url !== null && !/@(localhost|127\.0\.0\.1)[:/]/.test(database.url)) return [];
  const disk = await statfs(dataDir).catch(() => undefined);
  const free = disk === undefined ? Number.POSITIVE_INFINITY : disk.bavail * disk.bsize;
  if (free >= LEAST_BYTES) return [];
  return [
    {
      about: "disk",
      isFault: true,
      finding: `${(free / 1e9).toFixed(1)} GB free on the disk of DATA_DIR`,
      advice: "free some space: op prune lists what can be dropped",
    },
  ];
}

type Options = {
  readonly replicas: readonly ReplicaAddress[];
  /** One further behind is not read from. */
  readonly maxReplicaLagSeconds: number;
};

/** What a server says of itself. */
type ServerIdentity = {
  /** Of the files that a standby has from its primary (`pg_control_system`). */
  identifier: bigint;
  isStandby: boolean;
};

const answerMs = 5_000;
const pollMs = 100;

type Found = Pick<Finding, "finding" | "advice">;

/** Read replicas that are down, behind, ahead, promoted or of another database. */
export async function checkReplicas(
  primary: Database,
  { replicas, maxReplicaLagSeconds }: Options,
): Promise<Finding[]> {
  const checked = replicas.map(async ({ weight: _, ...address }): Promise<Finding[]> => {
    const found = await checkReplica(primary, address, maxReplicaLagSeconds);
    const about = `replica ${new URL(address.url).host}`;
    return found === null ? [] : [{ about, isFault: true, ...found }];
  });
  return (await Promise.all(checked)).flat();
}

async function checkReplica(
  primary: Database,
  address: DatabaseAddress,
  maxLagSeconds: number,
): Promise<Found | null> {
  const replica = openDatabase({
    ...address,
    applicationName: "doctor",
    max: 1,
    onIdleError: () => {},
    statementTimeoutMs: answerMs,
    connectionTimeoutMs: answerMs,
  });
  try {
    const server = await readServer(replica);
    if (server.identifier !== (await readServer(primary)).identifier) return foreign;
    if (!server.isStandby) return writable;
    const position = await readLogHead(replica);
    // Read after the replica's, which therefore can be ahead only if it followed another server.
    const head = await readLogHead(primary);
    if (position > head) return diverged;
    const missing = await missingAfter(replica, head, maxLagSeconds);
    return missing > 0n ? behind(missing, maxLagSeconds) : null;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (isOfPooler(reason)) return unmarked;
    const advice = "start it, or take it out of DATABASE_READ_URLS; the API reads from others";
    return { finding: `does not answer: ${reason}`, advice };
  } finally {
    await replica.destroy();
  }
}

/** Facts up to a position that a replica still lacks after so many seconds. */
async function missingAfter(replica: Database, head: bigint, seconds: number): Promise<bigint> {
  const deadline = performance.now() + seconds * 1_000;
  for (;;) {
    const missing = head - (await readLogHead(replica));
    if (missing <= 0n || performance.now() >= deadline) return missing;
    await delay(pollMs);
  }
}

/** PgBouncer refuses the settings of a connection to a server. */
const isOfPooler = (reason: string) => reason.includes("unsupported startup parameter");

const unmarked: Found = {
  finding: "is a pooler, which its address does not say",
  advice: "add ?pooler=true to its address in DATABASE_READ_URLS",
};
const foreign: Found = {
  finding: "is not a copy of the primary",
  advice: "take it out of DATABASE_READ_URLS: its answers are those of another database",
};
const writable: Found = {
  finding: "accepts writes: it is the primary, or was promoted",
  advice: "after a failover, let DATABASE_URL name it; else build the standby anew",
};
const diverged: Found = {
  finding: "is ahead of the primary: it followed another one before a failover",
  advice: "take it out of DATABASE_READ_URLS and build the standby anew",
};
const behind = (facts: bigint, seconds: number): Found => ({
  finding: `is ${facts} ${facts === 1n ? "fact" : "facts"} behind, also after ${seconds} s`,
  advice: "pg_stat_wal_receiver and its log say why; the API reads from others until then",
});

async function readServer(db: Database): Promise<ServerIdentity> {
  const { rows } = await sql<ServerIdentity>`
    select system_identifier as identifier, pg_is_in_recovery() as "isStandby"
    from pg_control_system()`.execute(db);
  const [server] = rows;
  if (server === undefined) throw new Error("pg_control_system() returned no row");
  return server;
}

type Addresses = {
  /** Of the database itself. */
  readonly url: string;
  /** Null: requests go to the database. */
  readonly poolerUrl: string | null;
};

/** A pooler where the database itself is needed, and a pooler that is down or leads elsewhere. */
export async function checkPooler(addresses: Addresses): Promise<Finding[]> {
  try {
    const found = [await checkDirect(addresses.url), await checkPooled(addresses)];
    return found.filter((one) => one !== null);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [fault(`does not answer: ${reason}`, "start it: until then requests are answered 503")];
  }
}

/** Sessions of their own are needed there: for leases, notifications and temporary tables. */
export async function checkDirect(url: string): Promise<Finding | null> {
  const { isPooled } = await askServer(url);
  return isPooled ? misnamed : null;
}

/** Throws when the pooler does not answer. */
export async function checkPooled({ url, poolerUrl }: Addresses): Promise<Finding | null> {
  if (poolerUrl === null) return null;
  const [direct, behind] = [await askServer(url), await askServer(poolerUrl)];
  if (behind.identifier !== direct.identifier || behind.database !== direct.database) {
    return elsewhere;
  }
  if (behind.isStandby && !direct.isStandby) return onStandby;
  return behind.isPooled ? null : absent;
}

const fault = (finding: string, advice: string): Finding => ({
  about: "pooler",
  isFault: true,
  finding,
  advice,
});

const misnamed = fault(
  "DATABASE_URL leads to a pooler",
  "set DATABASE_URL to the database itself, and DATABASE_POOLER_URL to the pooler",
);
const elsewhere = fault(
  "DATABASE_POOLER_URL leads to another database than DATABASE_URL",
  "check both addresses, and the [databases] of the pooler",
);
const onStandby = fault(
  "DATABASE_POOLER_URL leads to a standby, which takes no orders",
  "let it lead to the primary; standbys belong in DATABASE_READ_URLS",
);
const absent: Finding = {
  about: "pooler",
  isFault: false,
  finding: "DATABASE_POOLER_URL leads to the database itself",
  advice: "unset it: without a pooler statements are prepared",
};
