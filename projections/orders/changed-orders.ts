import { type RawBuilder, sql } from "kysely";
import type { Relation } from "../engine/projection.ts";
import { openScratchTable } from "../engine/scratch.ts";
import type { Session } from "../log/database.ts";

/** The orders that a transaction changed, by the schema of their tables, in a table of the session. */
export const changedOrder = sql`pg_temp.changed_order`;

/** Makes the table. */
export async function openChangedOrders(session: Session): Promise<void> {
  const columns =
    "schema text, chain_id integer, order_hash bytea, contract_id integer, token_id numeric(78,0)";
  await openScratchTable(session, "changed_order", columns);
}

/** A query of a statement whose query `changed` holds orders of a schema: adds them. */
export const noteChanged = (schema: string): RawBuilder<unknown> => sql`
  noted as (
    insert into ${changedOrder} (schema, chain_id, order_hash, contract_id, token_id)
    select ${schema}, chain_id, order_hash, contract_id, token_id from changed
  )`;

/** Their tokens. */
export const changedTokensOf = (schema: string): Relation =>
  sql`(select distinct contract_id, token_id from ${changedOrder} where schema = ${schema})`;
