import { sql } from "kysely";
import type { Session } from "../database.ts";

/**
 * Where facts wait, in the appender's transaction, for their positions. Emptied when it ends. `plansOnce`: the rest of the
 * transaction uses plans made for any values, as planning takes longer than staging few facts.
 */
export async function openStage(session: Session, { plansOnce = false } = {}): Promise<void> {
  await (plansOnce
    ? sql`select log.open_stage(), set_config('plan_cache_mode', 'force_generic_plan', true)`
    : sql`select log.open_stage()`
  ).execute(session);
}

export type Appended = {
  /** New facts; those the log held already are not counted. */
  appended: number;
  /** Position of the log's last fact. */
  head: bigint;
};

/** Gives the staged facts their positions. Locks the log's head until the transaction ends. */
export async function appendStaged(session: Session): Promise<Appended> {
  const { rows } = await sql<{ appended: bigint; head: bigint }>`
    select appended, last_position as head from log.append_stage()`.execute(session);
  const row = rows[0];
  if (row === undefined) throw new Error("log.append_stage returned no row");
  return { appended: Number(row.appended), head: row.head };
}
