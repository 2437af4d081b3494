import { type Kysely, sql } from "kysely";

/** Readings of approvals of one token: the newest is the last of its index entries. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create index fact_token_approval on only log.fact (contract_id, token_id, block_id) where kind = 83`,
  // Roles that may append readings of approvals may append those of one token, before their rights are granted anew.
  `insert into ops.appendable_kind (role, kind) select role, 83 from ops.appendable_kind where kind = 73
   on conflict do nothing`,
];
