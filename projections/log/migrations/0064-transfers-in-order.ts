import { type Kysely, sql } from "kysely";

/**
 * Transfers by contract, wallet and token in the order of the chain: activity reads them here. Addresses are indexed by
 * their hash, two thirds of the size; readers compare the address as well.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const order = "block_id, log_index, sub_index";
const isTransfer = "kind in (10, 11, 12)";
const zero = "'\\x0000000000000000000000000000000000000000'::bytea";
const dead = "'\\x000000000000000000000000000000000000dead'::bytea";

const statements = [
  `create index fact_transfer_contract on log.fact (contract_id, ${order}) where ${isTransfer}`,
  // A mint is not the zero address's, a burn not that of the address that it goes to.
  `create index fact_transfer_from on log.fact (hashbyteaextended(from_address, 0), ${order})
     where ${isTransfer} and from_address <> ${zero}`,
  `create index fact_transfer_to on log.fact (hashbyteaextended(to_address, 0), ${order})
     where ${isTransfer} and (from_address = ${zero} or not to_address in (${zero}, ${dead}))`,
  `create index fact_transfer_range on log.fact (contract_id, ${order}) where kind = 11`,
  `create index fact_token_in_order on log.fact (contract_id, token_id, ${order}) where kind in (10, 12)`,
  // Statistics of the indexed expressions: without them every wallet is thought to have many transfers.
  "analyze log.fact",
  // Last, since readers wait for it.
  "drop index log.fact_token",
  "alter index log.fact_token_in_order rename to fact_token",
];
