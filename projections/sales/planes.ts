import { type RawBuilder, sql } from "kysely";
import type { Session } from "../database.ts";
import { bitOf, bitsOf, chunkOf, noBits } from "../sql/token-bits.ts";

/** Moves the binary digits of each token's sales by the rows of the statement's `counted`. */
export function planesMoved(schema: string, sign: 1 | -1): RawBuilder<unknown> {
  const plane = sql.id(schema, "plane");
  const ofRow = (one: string) => sql`
    ${sql.ref(`${one}.contract_id`)} = m.contract_id and ${sql.ref(`${one}.chunk`)} = m.chunk`;
  return sql`
    token_moved as materialized (
      select m.contract_id, m.token_id, m.chunk, w.was, w.was + ${sql.raw(String(sign))} * m.sales as now
      from (
        select contract_id, token_id, ${chunkOf(sql`token_id`)} as chunk, count(*) as sales
        from counted group by 1, 2
      ) m
      cross join lateral (
        select coalesce(sum(${bitOf(sql`p.bits`, sql`m.token_id`)}::bigint << p.digit), 0)::bigint as was
        from ${plane} p where ${ofRow("p")}
      ) w
    ), plane_moved as materialized (
      select m.contract_id, m.chunk, m.digit, coalesce(p.bits, ${noBits}) # m.flips as bits
      from (
        select contract_id, chunk, digit, bit_or(${bitsOf(sql`token_id`)}) as flips
        from token_moved cross join lateral generate_series(0, ${highestDigit(sql`was # now`)}) digit
        where (was # now) >> digit & 1 = 1
        group by 1, 2, 3
      ) m
      left join lateral (
        select p.bits from ${plane} p where ${ofRow("p")} and p.digit = m.digit offset 0
      ) p on true
    ), plane_emptied as (
      delete from ${plane} p using plane_moved m
      where m.bits = ${noBits} and ${ofRow("p")} and p.digit = m.digit
    ), plane_stored as (
      insert into ${plane} (contract_id, chunk, digit, bits)
      select contract_id, chunk, digit, bits from plane_moved where bits <> ${noBits}
      on conflict (contract_id, chunk, digit) do update set bits = excluded.bits
    )`;
}

/** Fills the empty table from the sales. */
export async function countAllPlanes(session: Session, schema: string): Promise<void> {
  await sql`
    insert into ${sql.id(schema, "plane")} (contract_id, chunk, digit, bits)
    select contract_id, ${chunkOf(sql`token_id`)}, digit, bit_or(${bitsOf(sql`token_id`)})
    from (
      select contract_id, token_id, count(*) as sales from ${sql.id(schema, "sale")} group by 1, 2
    ) counted
    cross join lateral generate_series(0, ${highestDigit(sql`sales`)}) digit
    where sales >> digit & 1 = 1
    group by 1, 2, 3`.execute(session);
}

/** Of a number above zero, or the digit above it. */
function highestDigit(number: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`floor(ln((${number})::float8) / ln(2::float8) + 0.01)::int`;
}
