import { readFileSync } from "node:fs";
import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import { descendantsOf } from "#test/support/database/processes.ts";

const msOfTick = 10;

/** Processor time of a process and its descendants so far, in milliseconds, from `/proc`. */
export function processorMs(pid: number): number {
  return ticksOf(pid) * msOfTick + descendantsMs(pid);
}

/** The same of the descendants alone. */
export function descendantsMs(pid: number): number {
  return descendantsOf(pid).reduce((sum, one) => sum + ticksOf(one.pid), 0) * msOfTick;
}

/** Of the process itself and of children that exited. */
function ticksOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  } catch {
    return 0;
  }
}

/** The process id of the PostgreSQL server's main process. */
export async function findPostmaster(db: Database): Promise<number> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);
  const stat = readFileSync(`/proc/${rows[0]?.pid}/stat`, "utf8");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}
