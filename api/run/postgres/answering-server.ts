import pg from "pg";

/** What answers at an address of a database. */
export type AnsweringServer = {
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
