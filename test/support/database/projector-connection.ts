import { readFileSync } from "node:fs";
import { sql } from "kysely";
import { type Database, openDatabase, type Session } from "#projections/log/database.ts";

/** One connection, which keeps its plans, as a projector's does. */
export function openProjectorConnection(url: string): Database {
  return openDatabase({
    ...{ url, applicationName: "test", max: 1, prepares: true, pipelines: true },
    onIdleError: () => {},
  });
}

/** Milliseconds of processor time that the connection has taken in the server: the first number of its schedstat. */
export async function processorMsOf(connection: Session): Promise<number> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(connection);
  return Number(readFileSync(`/proc/${rows[0]?.pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
}
