import { type Kysely, sql } from "kysely";

/** The newest reading of an order of each kind is the last of its index entries: of its signature, and of its recipients. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  "create index fact_signature_reading_next on only log.fact (order_hash, kind, block_id) where kind in (79, 82)",
  // Roles that may append readings of signatures may append those of recipients, before their rights are granted anew.
  `insert into ops.appendable_kind (role, kind) select role, 82 from ops.appendable_kind where kind = 79
   on conflict do nothing`,
];
