import { type Kysely, sql } from "kysely";

/**
 * Locks that an analyst's role cannot take, in place of advisory locks: the views of `analytics` are made again under the
 * table lock of `ops.analyst`, instant keys of one address under a row lock. An analyst's time limit is kept here, since
 * a role can change its own `statement_timeout`.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create table ops.analyst (
     role            text primary key,
     timeout_seconds int  not null check (timeout_seconds > 0)
   )`,
  "comment on column ops.analyst.timeout_seconds is 'Seconds that a transaction of the role may last.'",
  "create table access.instant_key_turn (turn int primary key)",
  "insert into access.instant_key_turn select generate_series(0, 1023)",
];
