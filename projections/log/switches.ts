import { sql } from "kysely";
import type { Database } from "../database.ts";

/** Work that an operator may stop for a while: from Ponder's tables to the log, and from the log to projections. */
export const switchNames = ["recording", "projecting"] as const;
export type SwitchName = (typeof switchNames)[number];

/** Milliseconds that what was read is believed: a pause is heeded within a second. */
const BELIEVED_MS = 400;

/** Tells whether work is paused, asking the database now and then. */
export function openSwitch(db: Database, name: SwitchName): () => Promise<boolean> {
  let isPaused = false;
  let readAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() - readAt < BELIEVED_MS) return isPaused;
    isPaused = (await readPaused(db)).includes(name);
    readAt = performance.now();
    return isPaused;
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
