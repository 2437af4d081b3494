import { pipeline, type Readable, Transform } from "node:stream";
import { Client } from "undici";

/** A server of ClickHouse, by its HTTP interface, and a database of it. */
export type ClickhouseServer = {
  run(statement: string): Promise<void>;
  /** Rows as texts. */
  read(statement: string): Promise<(string | null)[][]>;
  /** `rows` is CSV. */
  insert(table: string, rows: Readable | string): Promise<void>;
  close(): Promise<void>;
};

const settings = {
  date_time_input_format: "best_effort",
  // An answer is sent when it is complete, so that an error is not a part of it.
  wait_end_of_query: "1",
};

export type ClickhouseOptions = {
  /** Ends statements. */
  signal?: AbortSignal;
  /** Milliseconds in which a statement takes more rows or is answered: its snapshot of PostgreSQL stays open for as long. */
  stalledMs?: number;
};

/** An insert of many rows, or a table that is written again, is answered when all is there. */
const STALLED_MS = 30 * 60_000;

/** `url`: `http://user:password@host:8123/database`; the database must exist. */
export function openClickhouse(
  url: string,
  { signal, stalledMs = STALLED_MS }: ClickhouseOptions = {},
): ClickhouseServer {
  const { origin, username, password, pathname } = new URL(url);
  const headers = {
    ...(username === "" ? {} : { "x-clickhouse-user": decodeURIComponent(username) }),
    ...(password === "" ? {} : { "x-clickhouse-key": decodeURIComponent(password) }),
  };
  const database = pathname.slice(1) || "default";
  const client = new Client(origin, { headersTimeout: 0, bodyTimeout: 0 });
  const send = async (query: string, body: Readable | string = "") => {
    const parameters = new URLSearchParams({ database, query, ...settings });
    const path = `/?${parameters}`;
    // The statement is in the address where there are rows, else in the body, which may be of any length.
    const request =
      body === ""
        ? { path: `/?${new URLSearchParams({ database, ...settings })}`, body: query }
        : { path, body };
    return await untilStalled({ stalledMs, signal }, async (ending, onProgress) => {
      const answer = await client.request({
        ...{ method: "POST", headers, path: request.path, signal: ending },
        body: typeof request.body === "string" ? request.body : noting(request.body, onProgress),
      });
      const text = await answer.body.text();
      if (answer.statusCode !== 200)
        throw new Error(`ClickHouse answered ${answer.statusCode}: ${text.slice(0, 500)}`);
      return text;
    });
  };
  return {
    run: async (statement) => void (await send(statement)),
    async read(statement) {
      const text = await send(`${statement} format TabSeparated`);
      const lines = text.split("\n").slice(0, -1);
      return lines.map((line) => line.split("\t").map(unescaped));
    },
    insert: async (table, rows) => void (await send(`insert into ${table} format CSV`, rows)),
    close: () => client.destroy(),
  };
}

type Limits = { signal: AbortSignal | undefined; stalledMs: number };
type Work<Result> = (ending: AbortSignal, onProgress: () => void) => Promise<Result>;

/** Does work until the signal, or until it makes no progress for too long. */
async function untilStalled<Result>(
  { stalledMs, signal }: Limits,
  work: Work<Result>,
): Promise<Result> {
  const stalled = new AbortController();
  const error = new Error(`ClickHouse took no rows and gave no answer for ${stalledMs / 1_000} s`);
  const timer = setTimeout(() => stalled.abort(error), stalledMs);
  const ending = signal ? AbortSignal.any([signal, stalled.signal]) : stalled.signal;
  try {
    return await work(ending, () => timer.refresh());
  } finally {
    clearTimeout(timer);
  }
}

/** The same rows; `onRows` is called for each part of them that is taken. */
function noting(rows: Readable, onRows: () => void): Readable {
  const taking = new Transform({
    transform(part, _, done) {
      onRows();
      done(null, part);
    },
  });
  // An error of either ends both, and the request that reads them.
  return pipeline(rows, taking, () => {});
}

const escapes: Record<string, string> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", "0": "\0" };

/** A value of the format TabSeparated. */
function unescaped(cell: string): string | null {
  if (cell === "\\N") return null;
  return cell.replaceAll(/\\(.)/gs, (_, character: string) => escapes[character] ?? character);
}
