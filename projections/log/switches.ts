import { sql } from "kysely";
import type { Database } from "../database.ts";

/**
 * Work that an operator may stop for a while: from Ponder's tables to the log, from the log to projections, and what
 * the service does for callers: taking listings and offers in, giving out what buying them needs, and keys.
 */
export const switchNames = [
  "recording",
  "projecting",
  "listings",
  "offers",
  "buying",
  "instant-keys",
] as const;
export type SwitchName = (typeof switchNames)[number];

/** Milliseconds that what was read is believed: a pause is heeded within a second. */
const BELIEVED_MS = 400;

/**
 * Tells whether work is paused, asking the database now and then. Until an operator pauses or resumes it, it is as it
 * starts.
 */
export function openSwitch(
  db: Database,
  name: SwitchName,
  startsPaused = false,
): () => Promise<boolean> {
  let isPaused = startsPaused;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<boolean> | undefined;
  const read = async () => {
    const { rows } = await sql<{ is_paused: boolean }>`
      select is_paused from ops.switch where name = ${name}`.execute(db);
    isPaused = rows[0]?.is_paused ?? startsPaused;
    readAt = performance.now();
    return isPaused;
  };
  return async () => {
    if (performance.now() - readAt < BELIEVED_MS) return isPaused;
    // Concurrent callers share the result.
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return await reading;
  };
}

export async function readPaused(db: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from ops.switch where is_paused order by name`.execute(db);
  return rows.map(({ name }) => name);
}

/** Returns whether that changed anything. */
export async function setPaused(
  db: Database,
  name: SwitchName,
  isPaused: boolean,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into ops.switch as s (name, is_paused, changed_at) values (${name}, ${isPaused}, now())
    on conflict (name) do update set is_paused = excluded.is_paused, changed_at = now()
      where s.is_paused <> excluded.is_paused`.execute(db);
  return numAffectedRows === 1n;
}
