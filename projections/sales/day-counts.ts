import { type RawBuilder, sql } from "kysely";
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
