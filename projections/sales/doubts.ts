import { sql } from "kysely";
import type { Session } from "../database.ts";
import type { FactWindow } from "../engine/projection.ts";
import { saleKinds } from "../exchanges/sale-fact-kinds.ts";
import type { DoubtRow } from "./row.ts";

/** Deletes the doubts of the window's transactions. */
export async function deleteDoubts(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<void> {
  await sql`
    delete from ${sql.id(schema, "doubt")} doubt using (
      select distinct block_id, transaction_index from ${window.changes} where kind in ${saleKinds}
    ) changed
    where doubt.block_id = changed.block_id and doubt.transaction_index = changed.transaction_index`.execute(
    session,
  );
}

export async function insertDoubts(
  session: Session,
  schema: string,
  rows: readonly DoubtRow[],
): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    insert into ${sql.id(schema, "doubt")} (block_id, transaction_index, place, log_index, protocol, reason)
    select block_id, transaction_index, place, log_index, protocol, reason
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as row (
      block_id bigint, transaction_index integer, place integer, log_index integer, protocol text, reason text
    )`.execute(session);
}
