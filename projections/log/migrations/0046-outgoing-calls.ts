import { type Kysely, sql } from "kysely";

/** Calls that processes make to nodes and partners, and what is left of their budgets of requests to partners. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create table ops.outgoing_call (
     role          text        not null,
     kind          text        not null check (kind in ('node', 'partner')),
     target        text        not null,
     host          text        not null,
     method        text        not null,
     outcome       text        not null,
     calls         bigint      not null,
     hour          timestamptz not null,
     calls_in_hour bigint      not null,
     calls_before  bigint      not null,
     last_at       timestamptz not null,
     last_message  text,
     primary key (role, kind, target, host, method, outcome)
   ) with (fillfactor = 70)`,
  "comment on column ops.outgoing_call.target is 'Chain id of a node, or marketplace'",
  "comment on column ops.outgoing_call.host is 'Of the node; empty: one of those that Ponder uses, or a partner'",
  "comment on column ops.outgoing_call.calls_in_hour is 'Of calls, those of the hour in which the last was stored'",
  "comment on column ops.outgoing_call.calls_before is 'Of calls, those of the hour before'",
  `create table ops.partner_budget (
     role         text        not null,
     marketplace  text        not null,
     budget       text        not null check (budget in ('read', 'act')),
     per_minute   integer     not null,
     burst        integer     not null,
     restored_at  timestamptz not null,
     paused_until timestamptz,
     stored_at    timestamptz not null,
     primary key (role, marketplace, budget)
   ) with (fillfactor = 70)`,
  "comment on column ops.partner_budget.restored_at is 'When all requests of the burst are possible again'",
];
