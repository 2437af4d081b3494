import { sql } from "kysely";
import type { Database } from "./database.ts";

/**
 * What became of a call. To a node: `result`; `reverted`: the contract failed; `error`: the node's own; `no_answer`: also an
 * unusable one. To a partner: `answered`, `limited` (429), `refused` (another status), `no_answer`.
 */
export type CallOutcome = "result" | "reverted" | "error" | "no_answer" | PartnerOutcome;
type PartnerOutcome = "answered" | "limited" | "refused";

/** Outcomes that an operator has to know of. */
export const callFaults: readonly CallOutcome[] = ["error", "no_answer", "limited", "refused"];

export type CallKey = {
  readonly kind: "node" | "partner";
  /** Chain id, or marketplace. */
  readonly target: string;
  /** Of the node; empty for partners, and where Ponder chose the node. */
  readonly host: string;
  /** Method of JSON-RPC, or the budget of a partner's request. */
  readonly method: string;
  readonly outcome: CallOutcome;
};

export type CallCount = CallKey & { calls: number; message: string | null };

/** Adds what a process counted. Totals stay for good; of hours, the present one and the one before. */
export async function storeCalls(
  db: Database,
  role: string,
  counts: readonly CallCount[],
  at: Date,
): Promise<void> {
  if (counts.length === 0) return;
  await sql`
    insert into ops.outgoing_call as o
      (role, kind, target, host, method, outcome, calls, hour, calls_in_hour, calls_before, last_at, last_message)
    select ${role}, kind, target, host, method, outcome, calls,
           date_trunc('hour', ${at}::timestamptz, 'UTC'), calls, 0, ${at}::timestamptz, left(message, 300)
    from jsonb_to_recordset(${JSON.stringify(counts)}::jsonb)
      as c (kind text, target text, host text, method text, outcome text, calls bigint, message text)
    order by kind, target, host, method, outcome
    on conflict (role, kind, target, host, method, outcome) do update set
      calls = o.calls + excluded.calls,
      hour = excluded.hour,
      calls_in_hour = excluded.calls_in_hour + case when o.hour = excluded.hour then o.calls_in_hour else 0 end,
      calls_before = case when o.hour = excluded.hour then o.calls_before
                          when o.hour = excluded.hour - interval '1 hour' then o.calls_in_hour else 0 end,
      last_at = excluded.last_at,
      last_message = coalesce(excluded.last_message, o.last_message)`.execute(db);
}

export type StoredCalls = Omit<CallKey, "target"> & {
  role: string;
  target: string;
  calls: number;
  /** In the present hour and the one before. */
  recent: number;
  lastAt: Date;
  lastMessage: string | null;
};

/** All counts of a kind, of all processes. */
export async function readCalls(
  db: Database,
  kind: CallKey["kind"],
  now: Date,
): Promise<StoredCalls[]> {
  const { rows } = await sql<StoredCalls>`
    select role, kind, target, host, method, outcome, calls::float8 as calls,
           (case hour when present then calls_in_hour + calls_before
                      when present - interval '1 hour' then calls_in_hour else 0 end)::float8 as recent,
           last_at as "lastAt", last_message as "lastMessage"
    from ops.outgoing_call, date_trunc('hour', ${now}::timestamptz, 'UTC') present
    where kind = ${kind} order by target, method, outcome, role, host`.execute(db);
  return rows;
}

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
