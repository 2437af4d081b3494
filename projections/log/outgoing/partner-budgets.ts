import { sql } from "kysely";
import type { Database } from "#projections/database.ts";

/** What a process may still ask of a partner. */
export type PartnerBudget = {
  readonly marketplace: string;
  /** `read`: data for many callers; `act`: on behalf of one caller. */
  readonly budget: "read" | "act";
  readonly perMinute: number;
  /** Requests that are possible at once when none was made for a while. */
  readonly burst: number;
  /** When all of them are possible again. */
  readonly restoredAt: Date;
  /** Null: not paused. */
  readonly pausedUntil: Date | null;
};

/** Stores budgets as of their last use, from which what is left at any time follows. */
export async function storeBudgets(
  db: Database,
  role: string,
  budgets: readonly PartnerBudget[],
  at: Date,
): Promise<void> {
  if (budgets.length === 0) return;
  await sql`
    insert into ops.partner_budget
      (role, marketplace, budget, per_minute, burst, restored_at, paused_until, stored_at)
    select ${role}, marketplace, budget, "perMinute", burst, "restoredAt", "pausedUntil", ${at}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(budgets)}::jsonb)
      as b (marketplace text, budget text, "perMinute" int, burst int, "restoredAt" timestamptz, "pausedUntil" timestamptz)
    order by marketplace, budget
    on conflict (role, marketplace, budget) do update set
      per_minute = excluded.per_minute, burst = excluded.burst, restored_at = excluded.restored_at,
      paused_until = excluded.paused_until, stored_at = excluded.stored_at`.execute(db);
}

export type StoredBudget = {
  role: string;
  marketplace: string;
  budget: "read" | "act";
  perMinute: number;
  burst: number;
  /** Requests that are possible at once, of `burst`. */
  left: number;
  /** Until which the partner asked for a pause; null: it did not, or it is over. */
  pausedUntil: Date | null;
};

/** What is left of the budgets of each role, of the process that used them last. */
export async function readBudgets(db: Database, now: Date): Promise<StoredBudget[]> {
  const { rows } = await sql<StoredBudget>`
    select role, marketplace, budget, per_minute as "perMinute", burst,
           case when paused_until > ${now}::timestamptz then 0 else greatest(0, least(burst, floor(
             burst - extract(epoch from restored_at - ${now}::timestamptz) * greatest(1, per_minute - burst) / 60
           )))::int end as "left",
           case when paused_until > ${now}::timestamptz then paused_until end as "pausedUntil"
    from ops.partner_budget order by marketplace, budget, role`.execute(db);
  return rows;
}
