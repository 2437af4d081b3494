import { sql } from "kysely";
import type { Database } from "#projections/database.ts";

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
