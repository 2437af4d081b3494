import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";

/**
 * Counts the use of keys in memory and writes it periodically, so that a request costs no write. A killed process
 * loses what it had not written.
 */
export function openUsage(db: Database, now: () => Date = () => new Date()) {
  let days = new Map<string, { keyId: number; day: string; requests: number; lastUsedAt: Date }>();
  return {
    onUse({ id: keyId }: { readonly id: number }): void {
      const at = now();
      const day = at.toISOString().slice(0, 10);
      const requests = (days.get(`${keyId} ${day}`)?.requests ?? 0) + 1;
      days.set(`${keyId} ${day}`, { keyId, day, requests, lastUsedAt: at });
    },
    /** Writes the counts since the last flush; on failure they are kept for the next one. */
    async flush(): Promise<void> {
      if (days.size === 0) return;
      const taken = days;
      days = new Map();
      try {
        await writeUsage(db, [...taken.values()]);
      } catch (error) {
        for (const [name, { requests, ...one }] of taken) {
          const later = days.get(name);
          days.set(name, { ...one, ...later, requests: requests + (later?.requests ?? 0) });
        }
        throw error;
      }
    },
  };
}

type Used = { keyId: number; day: string; requests: number; lastUsedAt: Date };

async function writeUsage(db: Database, used: readonly Used[]): Promise<void> {
  await sql`
    with counted as materialized (
      select * from unnest(${used.map(({ keyId }) => keyId)}::int[], ${used.map(({ day }) => day)}::date[],
                           ${used.map(({ requests }) => requests)}::int[],
                           ${used.map(({ lastUsedAt }) => lastUsedAt)}::timestamptz[])
        as u (key_id, day, requests, last_used_at)
    ),
    -- Always in the same order, so that processes that write the same keys do not deadlock.
    locked as materialized (
      select id from access.key where id in (select key_id from counted) order by id for no key update
    ),
    touched as (
      update access.key k set last_used_at = greatest(k.last_used_at, last.at)
      from (select key_id, max(last_used_at) as at from counted group by key_id) last
           join locked on locked.id = last.key_id
      where k.id = last.key_id
    )
    insert into access.usage as u (key_id, day, requests)
    select key_id, day, requests from counted join locked on locked.id = key_id
    on conflict (key_id, day) do update set requests = u.requests + excluded.requests`.execute(db);
}
