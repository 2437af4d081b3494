import { sql } from "kysely";
import type { Session } from "../log/database.ts";
import type { PartnerName } from "../domain/marketplaces.ts";
import { bytea } from "../log/sql-values.ts";
import type { PartnerCollectionState } from "./due-collection.ts";

type CollectionKey = Pick<PartnerCollectionState, "marketplace" | "chainId" | "contract">;

/** Condition on the row of a collection. */
export const isCollection = ({ marketplace, chainId, contract }: CollectionKey) => sql`
  marketplace = ${marketplace} and chain_id = ${chainId}
  and contract = ${bytea(contract)}`;

/** Delays the next step of a collection. */
export async function postponeCollection(
  session: Session,
  collection: CollectionKey,
  dueAt: Date,
): Promise<void> {
  await sql`update ops.partner_collection set due_at = ${dueAt} where ${isCollection(collection)}`.execute(
    session,
  );
}

/** Marks stored listings of these slugs as stale: a full pass is due at once. */
export async function markStale(
  db: Session,
  marketplace: PartnerName,
  slugs: readonly string[],
  /** `readBefore`: a full pass that ended by then is due again. */
  { now, readBefore }: { now: Date; readBefore: Date },
): Promise<void> {
  await sql`
    update ops.partner_collection
    set full_at = least(full_at, ${readBefore}::timestamptz), due_at = least(due_at, ${now}::timestamptz)
    where marketplace = ${marketplace} and slug = any (${[...slugs]}::text[])`.execute(db);
}

/** Starts a pass over a collection's listings. A full pass gets a new number. */
export async function beginPass(
  session: Session,
  collection: CollectionKey,
  pass: "full" | "newest",
  now: Date,
): Promise<void> {
  await sql`
    update ops.partner_collection
    set pass = ${pass}, pass_cursor = null, pass_pages = 0, pass_started_at = ${now}, is_pass_complete = true,
        pass_number = pass_number + case when ${pass} = 'full' then 1 else 0 end
    where ${isCollection(collection)}`.execute(session);
}

/** Ends the pass. With `fullAt` null it was abandoned, and a full pass follows. */
export async function endPass(
  session: Session,
  collection: CollectionKey,
  { fullAt, dueAt }: { fullAt: "unchanged" | Date | null; dueAt: Date },
): Promise<void> {
  const full = fullAt === "unchanged" ? sql`full_at` : sql`${fullAt}::timestamptz`;
  await sql`
    update ops.partner_collection
    set pass = null, pass_cursor = null, pass_pages = 0, full_at = ${full}, due_at = ${dueAt}
    where ${isCollection(collection)}`.execute(session);
}

/** Locks the collection's row. False: another process has advanced the pass since `state` was read. */
export async function lockPass(
  session: Session,
  state: Pick<PartnerCollectionState, "pass" | "passNumber" | "passCursor" | "passPages"> &
    CollectionKey,
): Promise<boolean> {
  const { rows } = await sql`
    select from ops.partner_collection
    where ${isCollection(state)} and pass = ${state.pass} and pass_number = ${state.passNumber}
      and pass_pages = ${state.passPages} and pass_cursor is not distinct from ${state.passCursor}
    for update`.execute(session);
  return rows.length > 0;
}
