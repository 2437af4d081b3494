import { statfs } from "node:fs/promises";
import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import { areIndexesComplete } from "#projections/log/schema.ts";
import { locksSchema } from "#projections/log/named-lock.ts";
import type { InspectedConfig } from "./inspected-config.ts";

/** A problem. A fault makes something fail or be wrong; others are notes. */
export type Finding = { about: string; isFault: boolean; finding: string; advice: string };

/** Free bytes below which a disk is reported as nearly full. */
const LEAST_BYTES = 5e9;
/** What one process of each role takes. */
const LEAST_CONNECTIONS = 130;
/** Seconds after which an open transaction is reported: vacuum cannot remove rows that it may read. One that holds a lock of ours may read none. */
const LONG_SECONDS = 60;

type Server = {
  version: number;
  fsync: string;
  fullPageWrites: string;
  autovacuum: string;
  connections: number;
};

/** The server's version and settings, transactions that stay open, and a log whose partitions or their indexes could not be made yet. */
export async function checkServer(db: Database): Promise<Finding[]> {
  const { rows } = await sql<Server>`
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

function checkSettings(server: Server): Finding[] {
  const findings: [boolean, boolean, string, string][] = [
    [
      server.version < 150_000 || server.version >= 190_000,
      true,
      `PostgreSQL ${Math.floor(server.version / 10_000)}`,
      "versions 15 to 18 are tested",
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
