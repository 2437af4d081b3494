import { type RawBuilder, sql } from "kysely";

/** SQL: the row of `ownership.token_range` that an id of a contract is in, if it is in one. */
export function rangeAt(
  contractId: RawBuilder<unknown>,
  tokenId: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`
    select * from (
      select * from ownership.token_range one_range
      where one_range.contract_id = ${contractId} and one_range.first_id <= ${tokenId}
      order by one_range.first_id desc limit 1
    ) last_range where last_range.last_id >= ${tokenId}`;
}

/** SQL: the tokens of an id of a contract, with a row of their own or in a range, as rows of `ownership.token`. */
export function tokensAt(
  contractId: RawBuilder<unknown>,
  tokenId: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`(
    select own.contract_id, own.token_id, own.standard, own.owner, own.supply, own.is_burned, own.block_id
    from ownership.token own where own.contract_id = ${contractId} and own.token_id = ${tokenId}
    union all
    select held.contract_id, ${tokenId}, 721::smallint, held.owner, (not held.is_burned)::int::numeric, held.is_burned,
           held.block_id
    from (${rangeAt(contractId, tokenId)}) held
  )`;
}
