import { type Kysely, sql } from "kysely";

/** What the state of an order rests on is found by who makes it, by the token, and by the account that pays. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  // Approvals, currency that goes out, counters, and readings of them.
  `create index fact_maker on log.fact (from_address, contract_id, kind, block_id)
     where kind in (20, 21, 22, 24, 32, 72, 73, 76, 77)`,
  `create index fact_payee on log.fact (to_address, contract_id, block_id) where kind in (22, 23)`,
  `create index fact_token_reading on log.fact (contract_id, token_id, kind) where kind in (74, 75, 78)`,
  `create index fact_channel on log.fact (contract_id, to_address) where kind in (40, 80)`,
  `create index fact_clock on log.fact (amount desc) where kind = 81`,
  `create index fact_submission on log.fact (position) where kind = 70`,
];
