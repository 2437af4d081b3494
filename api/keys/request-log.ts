import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import type { AnsweredRequest } from "../http/limit.ts";
import { maskKeys } from "./key-text.ts";

/** Requests retained of each key, and for how long. */
export const maxRequests = 1_000;
export const requestDays = 7;

/** Requests that wait in memory to be written, of all keys together. */
const maxPending = 50_000;

/**
 * The requests of keys. They are held in memory and written periodically, so that a request costs no write. A killed
 * process loses what it had not written; beyond `maxPending` the oldest are left out.
 */
export function openRequestLog(db: Database) {
  let pending: AnsweredRequest[] = [];
  return {
    add(request: AnsweredRequest): void {
      if (pending.length >= maxPending) pending = pending.slice(maxPending / 2);
      const { path, query } = request;
      pending.push({ ...request, path: maskKeys(path), query: query && maskKeys(query) });
    },
    /** Writes the requests since the last flush; on failure they are kept for the next one. */
    async flush(): Promise<void> {
      if (pending.length === 0) return;
      const taken = pending;
      pending = [];
      try {
        await writeRequests(db, newestOfEach(taken));
      } catch (error) {
        pending = [...taken, ...pending].slice(-maxPending);
        throw error;
      }
    },
  };
}

function newestOfEach(requests: readonly AnsweredRequest[]): AnsweredRequest[] {
  const counts = new Map<number, number>();
  const newestFirst = requests.toReversed().filter(({ keyId }) => {
    const count = (counts.get(keyId) ?? 0) + 1;
    counts.set(keyId, count);
    return count <= maxRequests;
  });
  return newestFirst.toReversed();
}

async function writeRequests(db: Database, requests: readonly AnsweredRequest[]): Promise<void> {
  const column = <Value>(of: (request: AnsweredRequest) => Value) => requests.map(of);
  await sql`
    insert into access.key_request (key_id, at, method, path, status, duration_ms, query, code, request_id)
    select r.* from unnest(${column(({ keyId }) => keyId)}::int[], ${column(({ at }) => at)}::timestamptz[],
                           ${column(({ method }) => method)}::text[], ${column(({ path }) => path)}::text[],
                           ${column(({ status }) => status)}::smallint[],
                           ${column(({ durationMs }) => durationMs)}::int[],
                           ${column(({ query }) => query)}::text[], ${column(({ code }) => code)}::text[],
                           ${column(({ requestId }) => requestId)}::text[])
      as r (key_id, at, method, path, status, duration_ms, query, code, request_id)
    -- A key of a deleted account is gone.
    where exists (select from access.key k where k.id = r.key_id)`.execute(db);
  const keyIds = [...new Set(column(({ keyId }) => keyId))];
  await sql`
    delete from access.key_request where id in (
      select r.id from unnest(${keyIds}::int[]) as k (id), access.key_request r
      where r.key_id = k.id and r.id <= (
        select n.id from access.key_request n where n.key_id = k.id order by n.id desc
        offset ${maxRequests} limit 1)
      for update of r skip locked)`.execute(db);
}

/** A request of a key. */
export type KeyRequest = {
  readonly id: bigint;
  readonly at: Date;
  readonly method: string;
  /** A long one is cut, as a long query is. */
  readonly path: string;
  readonly query: string | null;
  readonly status: number;
  /** Of a refusal; null: it was none, or of a release that kept no codes, as then the id. */
  readonly code: string | null;
  readonly requestId: string | null;
  readonly durationMs: number;
};

/** `text`: in the path, the query, the code or the id. */
export type RequestFilter = { readonly isRefused: boolean; readonly text: string };
const everyRequest: RequestFilter = { isRefused: false, text: "" };

/** The newest requests of a key, before the one with the id `before`. */
export async function readKeyRequests(
  db: Database,
  keyId: number,
  { before, limit }: { readonly before: bigint | null; readonly limit: number },
  { isRefused, text }: RequestFilter = everyRequest,
): Promise<KeyRequest[]> {
  const { rows } = await sql<KeyRequest>`
    select id, at, method, path, query, status, code, request_id as "requestId", duration_ms as "durationMs"
    from access.key_request
    where key_id = ${keyId} and (${before}::bigint is null or id < ${before})
      and (not ${isRefused} or status >= 400)
      and (${text} = '' or strpos(lower(concat_ws(' ', path, query, code, request_id)), lower(${text})) > 0)
    order by id desc limit ${limit}`.execute(db);
  return rows;
}
