import { type RawBuilder, sql } from "kysely";
import type { Session } from "../log/database.ts";
import type { FactWindow } from "../engine/projection.ts";
import { changedSaleTransactions } from "../exchanges/exchanges.ts";
import type { UnresolvedRow } from "./row.ts";

/** Deletes the unresolved events of the window's transactions and takes them out of the totals. */
export async function deleteUnresolvedEvents(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<void> {
  const { numAffectedRows } = await sql`
    with counted as (
      delete from ${sql.id(schema, "unresolved_event")} event using (
        ${changedSaleTransactions(window.changes)}
      ) changed
      where event.block_id = changed.block_id and event.transaction_index = changed.transaction_index
      returning event.block_id, event.protocol, event.reason
    )
    ${addToTotals(schema, -1)}`.execute(session);
  if ((numAffectedRows ?? 0n) === 0n) return;
  await sql`delete from ${sql.id(schema, "unresolved_event_total")} where events = 0`.execute(
    session,
  );
}

/** Inserts unresolved events and adds them to the totals. */
export async function addUnresolvedEvents(
  session: Session,
  schema: string,
  rows: readonly UnresolvedRow[],
): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    with counted as (${inserted(schema, rows)} returning block_id, protocol, reason)
    ${addToTotals(schema, 1)}`.execute(session);
}

/** Inserts unresolved events; `fillUnresolvedTotals` follows when all are there. */
export async function insertUnresolvedEvents(
  session: Session,
  schema: string,
  rows: readonly UnresolvedRow[],
): Promise<void> {
  if (rows.length > 0) await inserted(schema, rows).execute(session);
}

/** Fills the empty totals. */
export async function fillUnresolvedTotals(session: Session, schema: string): Promise<void> {
  await sql`
    insert into ${sql.id(schema, "unresolved_event_total")} (chain_id, protocol, reason, events)
    ${totalsOf(sql.id(schema, "unresolved_event"), 1)}`.execute(session);
}

function inserted(schema: string, rows: readonly UnresolvedRow[]): RawBuilder<unknown> {
  return sql`
    insert into ${sql.id(schema, "unresolved_event")} (block_id, transaction_index, place, log_index, protocol, reason)
    select block_id, transaction_index, place, log_index, protocol, reason
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as row (
      block_id bigint, transaction_index integer, place integer, log_index integer, protocol text, reason text
    )`;
}

function totalsOf(unresolved: RawBuilder<unknown>, sign: 1 | -1): RawBuilder<unknown> {
  return sql`
    select block.chain_id, protocol, reason, ${sql.raw(String(sign))} * count(*)
    from ${unresolved} join log.block using (block_id) group by 1, 2, 3`;
}

/** SQL: adds or subtracts the rows of the statement's `counted`. */
function addToTotals(schema: string, sign: 1 | -1): RawBuilder<unknown> {
  return sql`
    insert into ${sql.id(schema, "unresolved_event_total")} as total (chain_id, protocol, reason, events)
    ${totalsOf(sql`counted`, sign)}
    on conflict (chain_id, protocol, reason) do update set events = total.events + excluded.events`;
}
