import { sql } from "kysely";

/** SQL: all tokens, those in ranges one by one, as rows of `ownership.token`. */
export const ownedTokens = sql`(
  select contract_id, token_id, standard, owner, supply, is_burned, block_id, log_index from ownership.token
  union all
  select contract_id, generate_series(first_id, last_id), 721::smallint, owner, (not is_burned)::int::numeric, is_burned,
         block_id, log_index
  from ownership.token_range
)`;
