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
      pending.push({ ...request, path: maskKeys(request.path) });
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
    insert into access.key_request (key_id, at, method, path, status, duration_ms)
    select r.* from unnest(${column(({ keyId }) => keyId)}::int[], ${column(({ at }) => at)}::timestamptz[],
                           ${column(({ method }) => method)}::text[], ${column(({ path }) => path)}::text[],
                           ${column(({ status }) => status)}::smallint[],
                           ${column(({ durationMs }) => durationMs)}::int[])
      as r (key_id, at, method, path, status, duration_ms)
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
  /** Without its query; a long one is cut. */
  readonly path: string;
  readonly status: number;
  readonly durationMs: number;
};

/** The newest requests of a key, before the one with the id `before`. */
export async function readKeyRequests(
  db: Database,
  keyId: number,
  { before, limit }: { readonly before: bigint | null; readonly limit: number },
): Promise<KeyRequest[]> {
  const { rows } = await sql<KeyRequest>`
    select id, at, method, path, status, duration_ms as "durationMs"
    from access.key_request
    where key_id = ${keyId} and (${before}::bigint is null or id < ${before})
    order by id desc limit ${limit}`.execute(db);
  return rows;
}
