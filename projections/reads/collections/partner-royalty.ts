import { type RawBuilder, sql } from "kysely";

/** SQL for a lateral join: the creator fee of a partner in force for a contract; no row where it requires none. */
export function partnerRoyalty(contractId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select latest.recipient, latest.bps
    from (
      select recipient, bps from collections.creator_fee
      where contract_id = ${contractId} and counts order by position desc limit 1
    ) latest
    where latest.recipient is not null`;
}

/** SQL for a lateral join: what an operator decided, also none (0 to the zero address); no row where nothing is decided. */
export function operatorRoyalty(contractId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select coalesce(latest.recipient, decode(repeat('00', 20), 'hex')) as recipient, latest.bps
    from (
      select recipient, bps from collections.stated_royalty
      where contract_id = ${contractId} and source = 'operator' order by position desc limit 1
    ) latest
    where latest.bps is not null`;
}

/** SQL for a lateral join: the royalty that the contract states; no row where it states none. */
export function contractRoyalty(contractId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select latest.recipient, latest.bps
    from (
      select recipient, bps from collections.stated_royalty
      where contract_id = ${contractId} and source = 'erc2981' order by block_id desc, position desc limit 1
    ) latest
    where latest.recipient is not null and latest.bps > 0`;
}
