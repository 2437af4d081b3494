import { type RawBuilder, sql } from "kysely";
import type { Session } from "../log/database.ts";

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
