import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { type Database, type DatabaseAddress, openDatabase } from "#projections/log/database.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import type { ReplicaAddress } from "#ops/config/database-settings.ts";
import type { Finding } from "./find-server-problems.ts";

type Options = {
  readonly replicas: readonly ReplicaAddress[];
  /** One further behind is not read from. */
  readonly maxReplicaLagSeconds: number;
};

/** What a server says of itself. */
type Server = {
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

async function readServer(db: Database): Promise<Server> {
  const { rows } = await sql<Server>`
    select system_identifier as identifier, pg_is_in_recovery() as "isStandby"
    from pg_control_system()`.execute(db);
  const [server] = rows;
  if (server === undefined) throw new Error("pg_control_system() returned no row");
  return server;
}
