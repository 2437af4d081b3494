import { type RawBuilder, sql } from "kysely";
import { bitOf, bitsOf, chunkOf, emptyBits } from "../engine/token-ids.ts";
import type { Session } from "../log/database.ts";

/** SQL: numbers of the rows of `sales`, per contract and (contract 0) per chain. */
function counts(sales: RawBuilder<unknown>): RawBuilder<unknown> {
  const day = sql`date_trunc('day', timestamp, 'UTC')`;
  return sql`
    select chain_id, coalesce(contract_id, 0), ${day}, marketplace, protocol, currency, count(*)
    from ${sales}
    group by grouping sets (
      (chain_id, contract_id, ${day}, marketplace, protocol, currency), (chain_id, ${day}, marketplace, protocol, currency)
    )`;
}

const columns = sql`(chain_id, contract_id, day, marketplace, protocol, currency, sales)`;

/** CTE that adds or subtracts the rows of the statement's `counted`. */
export function adjustDays(schema: string, sign: 1 | -1): RawBuilder<unknown> {
  return sql`
    changed_day as (
      insert into ${sql.id(schema, "day")} as one ${columns}
      select chain_id, c.contract_id, day, marketplace, protocol, currency, ${sql.raw(String(sign))} * sales
      from (${counts(sql`counted`)}) c ${columns}
      on conflict (chain_id, contract_id, day, marketplace, protocol, currency) do update
        set sales = one.sales + excluded.sales
    )`;
}

/** Fills the empty table from the sales. */
export async function fillDays(session: Session, schema: string): Promise<void> {
  await sql`
    insert into ${sql.id(schema, "day")} ${columns} ${counts(sql.id(schema, "sale"))}`.execute(
    session,
  );
}

/** A contract, and a day by one of its hours. */
type ChangedDay = { chain_id: number; contract_id: number; hour: Date };

/** Deletes the rows of the days that have no sale left. */
export async function deleteEmptyDays(
  session: Session,
  schema: string,
  changed: readonly ChangedDay[],
): Promise<void> {
  await sql`
    delete from ${sql.id(schema, "day")} one
    using unnest(
      ${changed.map((row) => row.chain_id)}::int[],
      ${changed.map((row) => row.contract_id)}::int[],
      ${changed.map((row) => row.hour)}::timestamptz[]
    ) as changed (chain_id, contract_id, hour)
    where one.chain_id = changed.chain_id and one.contract_id in (changed.contract_id, 0)
      and one.day = date_trunc('day', changed.hour, 'UTC') and one.sales = 0`.execute(session);
}

const byToken = sql`
  select chain_id, token_id, count(*) as sales from counted group by 1, 2`;

/** Adds the rows of the CTE `counted` to the totals of their token ids. */
export function addTokenTotals(schema: string): RawBuilder<unknown> {
  return sql`
    added_token_total as (
      insert into ${sql.id(schema, "token_total")} as total (chain_id, token_id, sales) ${byToken}
      on conflict (chain_id, token_id) do update set sales = total.sales + excluded.sales
    )`;
}

/** Subtracts them; a total of zero has no row. */
export function subtractTokenTotals(schema: string): RawBuilder<unknown> {
  const total = sql.id(schema, "token_total");
  const isSame = sql`total.chain_id = lost.chain_id and total.token_id = lost.token_id`;
  return sql`
    lost_of_token as materialized (${byToken}), deleted_token_total as (
      delete from ${total} total using lost_of_token lost where ${isSame} and total.sales <= lost.sales
    ), lowered_token_total as (
      update ${total} total set sales = total.sales - lost.sales
      from lost_of_token lost where ${isSame} and total.sales > lost.sales
    )`;
}

/** Fills the empty table from the sales. */
export async function fillTokenTotals(session: Session, schema: string): Promise<void> {
  await sql`
    insert into ${sql.id(schema, "token_total")} (chain_id, token_id, sales)
    select chain_id, token_id, count(*) from ${sql.id(schema, "sale")} group by 1, 2`.execute(
    session,
  );
}

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
