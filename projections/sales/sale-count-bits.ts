import { type RawBuilder, sql } from "kysely";
import type { Session } from "../log/database.ts";
import { bitOf, bitsOf, chunkOf, emptyBits } from "../engine/token-ids.ts";

/** Adds or subtracts the rows of the CTE `counted` to the bit-sliced sale counts of their tokens. */
export function adjustSaleCountBits(schema: string, sign: 1 | -1): RawBuilder<unknown> {
  const saleCountBits = sql.id(schema, "sale_count_bits");
  const ofRow = (one: string) => sql`
    ${sql.ref(`${one}.contract_id`)} = m.contract_id and ${sql.ref(`${one}.chunk`)} = m.chunk`;
  return sql`
    changed_count as materialized (
      select m.contract_id, m.token_id, m.chunk, w.old, w.old + ${sql.raw(String(sign))} * m.sales as new
      from (
        select contract_id, token_id, ${chunkOf(sql`token_id`)} as chunk, count(*) as sales
        from counted group by 1, 2
      ) m
      cross join lateral (
        select coalesce(sum(${bitOf(sql`p.bits`, sql`m.token_id`)}::bigint << p.digit), 0)::bigint as old
        from ${saleCountBits} p where ${ofRow("p")}
      ) w
    ), changed_bits as materialized (
      select m.contract_id, m.chunk, m.digit, coalesce(p.bits, ${emptyBits}) # m.flips as bits
      from (
        select contract_id, chunk, digit, bit_or(${bitsOf(sql`token_id`)}) as flips
        from changed_count cross join lateral generate_series(0, ${highestDigit(sql`old # new`)}) digit
        where (old # new) >> digit & 1 = 1
        group by 1, 2, 3
      ) m
      left join lateral (
        select p.bits from ${saleCountBits} p where ${ofRow("p")} and p.digit = m.digit offset 0
      ) p on true
    ), deleted_bits as (
      delete from ${saleCountBits} p using changed_bits m
      where m.bits = ${emptyBits} and ${ofRow("p")} and p.digit = m.digit
    ), stored_bits as (
      insert into ${saleCountBits} (contract_id, chunk, digit, bits)
      select contract_id, chunk, digit, bits from changed_bits where bits <> ${emptyBits}
      on conflict (contract_id, chunk, digit) do update set bits = excluded.bits
    )`;
}

/** Fills the empty table from the sales. */
export async function fillSaleCountBits(session: Session, schema: string): Promise<void> {
  await sql`
    insert into ${sql.id(schema, "sale_count_bits")} (contract_id, chunk, digit, bits)
    select contract_id, ${chunkOf(sql`token_id`)}, digit, bit_or(${bitsOf(sql`token_id`)})
    from (
      select contract_id, token_id, count(*) as sales from ${sql.id(schema, "sale")} group by 1, 2
    ) counted
    cross join lateral generate_series(0, ${highestDigit(sql`sales`)}) digit
    where sales >> digit & 1 = 1
    group by 1, 2, 3`.execute(session);
}

/** Of a number above zero; the digit above it where the logarithm is rounded up. */
function highestDigit(number: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`floor(ln((${number})::float8) / ln(2::float8) + 0.01)::int`;
}
