import pg from "pg";
import { ConfigurationError } from "../config/read-config.ts";

/** What answers at an address of a database. */
type AnsweringServer = {
  /** Of the files of the server, and of its copies. */
  readonly identifier: string;
  readonly database: string;
  readonly isStandby: boolean;
  /** Whether a pooler stands between. */
  readonly isPooled: boolean;
};

const answerMs = 5_000;

/** Asks on a connection without settings, since a pooler refuses those that it does not know. Throws when nothing answers. */
export async function askServer(url: string): Promise<AnsweringServer> {
  const client = new pg.Client({
    connectionString: url,
    application_name: "address check",
    connectionTimeoutMillis: answerMs,
    query_timeout: answerMs,
  });
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query<Omit<AnsweringServer, "isPooled"> & { pid: number }>(
      `select system_identifier::text as identifier, current_database() as database,
              pg_is_in_recovery() as "isStandby", pg_backend_pid() as pid
       from pg_control_system()`,
    );
    const [row] = rows;
    if (row === undefined) throw new Error("pg_control_system() returned no row");
    const { pid, ...server } = row;
    return { ...server, isPooled: pid !== announcedProcess(client) };
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The process that a query would be cancelled at: a pooler announces one of its own making. */
const announcedProcess = (client: pg.Client) =>
  (client as unknown as { processID: number }).processID;

/** Wrong password, unknown or forbidden user, unknown database: a server that answers, and that a wait does not change. */
const refusals = new Set(["28P01", "28000", "3D000"]);

/** Throws a configuration error that names the setting where a server refused its address; other failures may pass. */
export function throwIfRefused(error: unknown, setting: string, url: string): void {
  const cause = causeOf(error);
  const code = "code" in cause ? `${cause.code}` : "";
  const lacksPassword = /password must be a string|no password supplied/.test(cause.message);
  if (!refusals.has(code) && !lacksPassword) return;
  const reason = lacksPassword ? "it asks for a password" : cause.message;
  throw new ConfigurationError([
    `${setting}: the server at ${placeOf(url)} refuses it: ${reason}. ` +
      `Example: ${setting}=postgres://user:password@localhost:5432/orders`,
  ]);
}

/** Logs in once. Throws where the server refuses it; one that does not answer is no refusal. */
export async function assertLogin(setting: string, url: string): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    application_name: "address check",
    connectionTimeoutMillis: 5_000,
  });
  client.on("error", () => {});
  try {
    await client.connect();
  } catch (error) {
    throwIfRefused(error, setting, url);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Host and port of a database's address. */
export const placeOf = (url: string): string => new URL(url).host || "localhost:5432";

const causeOf = (error: unknown): Error => {
  if (!(error instanceof Error)) return new Error(String(error));
  return error.cause instanceof Error ? causeOf(error.cause) : error;
};
