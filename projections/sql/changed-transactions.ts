import { type RawBuilder, sql } from "kysely";

/**
 * SQL: transactions with facts of a condition among a window's changes, one row for each block: `block_id`,
 * `transaction_indexes`. Joined one by one, whatever the planner expects of a window, they could have the facts of all
 * blocks read once for each.
 */
export const changedTransactions = (
  changes: RawBuilder<unknown>,
  condition: RawBuilder<unknown>,
): RawBuilder<unknown> => sql`
  select block_id, array_agg(distinct transaction_index) as transaction_indexes
  from ${changes} where ${condition} group by block_id`;
