import { type RawBuilder, sql } from "kysely";
import type { Session } from "../database.ts";
import type { Window } from "../engine/projection.ts";
import { openScratch } from "../engine/scratch.ts";

/** The tokens whose listings a window changed, in a table of the session, for projections that follow in its tick. */
export const movedListing = sql`pg_temp.moved_listing`;

async function openMoved(session: Session): Promise<void> {
  const columns =
    "schema text, after bigint, up_to bigint, contract_id integer, token_id numeric(78,0)";
  await openScratch(session, "moved_listing", columns);
}

/** Tells that the tables of `schema` are brought over `window`: what it lists from here on is all that changes. */
export async function beginMoves(
  session: Session,
  schema: string,
  { after, upTo }: Window,
): Promise<void> {
  await openMoved(session);
  await sql`
    insert into ${movedListing} (schema, after, up_to) values (${schema}, ${after}, ${upTo})`.execute(
    session,
  );
}

/**
 * The tokens whose listings changed in `window`; null where the tables came there otherwise than in this transaction,
 * so that nobody knows.
 */
export async function findMoves(
  session: Session,
  schema: string,
  { after, upTo }: Window,
): Promise<RawBuilder<unknown> | null> {
  await openMoved(session);
  const ofWindow = sql`schema = ${schema} and after = ${after} and up_to = ${upTo}`;
  const { rows } = await sql`
    select from ${movedListing} where ${ofWindow} and contract_id is null limit 1`.execute(session);
  if (rows.length === 0) return null;
  return sql`
    select contract_id, token_id from ${movedListing} where ${ofWindow} and contract_id is not null`;
}
