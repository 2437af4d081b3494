import { type Kysely, sql } from "kysely";

/** The operator's console: a process with a database role of its own, what it samples, and what operators did. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `alter table ops.service_role
     drop constraint service_role_process_check,
     add constraint service_role_process_check
       check (process in ('owner', 'indexer', 'projector', 'jobs', 'api', 'console'))`,
  `create table ops.sample (
     series   text             not null,
     taken_at timestamptz      not null,
     value    double precision not null,
     primary key (series, taken_at)
   )`,
  "comment on table ops.sample is 'Figures of the last days that nothing else keeps: lag of chains in seconds, head of the log, bytes of the database.'",
  // The history of actions is read by kind.
  "create index fact_operator_action on log.fact (position) where kind in (97, 98)",
];
