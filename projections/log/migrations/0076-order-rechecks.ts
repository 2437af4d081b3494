import { type Kysely, sql } from "kysely";

/** How far the facts of each chain were looked through for orders to recheck. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create table ops.order_recheck (
     chain_id integer primary key,
     position bigint  not null
   ) with (fillfactor = 50)`,
  "comment on column ops.order_recheck.position is 'Orders that facts up to here leave uncertain were read again from the chain.'",
];
