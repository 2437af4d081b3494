import { type RawBuilder, sql } from "kysely";

/** SQL: the creator fee that a partner requires of a contract, for a lateral join; no row where it requires none. */
export function partnerRoyalty(contractId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select latest.recipient, latest.bps
    from (
      select recipient, bps from collections.creator_fee
      where contract_id = ${contractId} order by position desc limit 1
    ) latest
    where latest.recipient is not null`;
}
