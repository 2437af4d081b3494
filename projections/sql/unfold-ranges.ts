import { type RawBuilder, sql } from "kysely";

/** Ids of ranges `from`; each id in turn, as far as the reader goes: a range may hold more ids than there are atoms. */
type Unfolding = {
  /** SQL: rows of `ownership.token_range` as `r`, with the order to unfold them in, and conditions. */
  ranges: RawBuilder<unknown>;
  /** SQL: unfold no id before it. */
  from: RawBuilder<unknown>;
};

/**
 * SQL: ids of ranges as rows `(contract_id, token_id, standard, owner)`, in the order of the ranges. A set-returning
 * function in a select list gives one row at a time, so a limit ends it; the same in a from clause would store all rows.
 */
export function unfoldRanges({ ranges, from }: Unfolding): RawBuilder<unknown> {
  return sql`(
    select r.contract_id, generate_series(greatest(r.first_id, ${from}), r.last_id) as token_id, 721::smallint as standard,
           r.owner
    from (${ranges} offset 0) r
  )`;
}

/** SQL: the ids of a contract in ranges, from one on, by id. */
export function idsOfContract(
  contractId: RawBuilder<unknown>,
  from: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const ranges = sql`
    select * from ownership.token_range r
    where r.contract_id = ${contractId} and r.first_id >= coalesce((
      select max(before.first_id) from ownership.token_range before
      where before.contract_id = ${contractId} and before.first_id <= ${from}
    ), 0)
    order by r.first_id`;
  return unfoldRanges({ ranges, from });
}
