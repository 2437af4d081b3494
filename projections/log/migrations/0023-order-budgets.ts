import { type Kysely, sql } from "kysely";

/** What submitted orders were charged to, and the makers that an operator blocked. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create table ops.order_budget (
     chain_id   integer          not null,
     subject    text             not null,
     address    bytea            not null,
     spent      double precision not null,
     spent_at   timestamptz      not null,
     per_second double precision not null,
     primary key (chain_id, subject, address)
   ) with (fillfactor = 70)`,
  `create index order_budget_spent_at on ops.order_budget (spent_at)`,
  `comment on column ops.order_budget.address is 'Of a maker or a contract; empty: a budget that many share'`,
  `comment on column ops.order_budget.spent is 'Orders as of spent_at; per_second of them are given back'`,
  `create table ops.blocked_maker (
     address    bytea       primary key,
     reason     text,
     blocked_at timestamptz not null default now()
   )`,
];
