import { sql } from "kysely";
import type { Session } from "../database.ts";
import type { PartnerName } from "../facts/partner-listing.ts";
import type { PartnerCollectionState } from "./due-collection.ts";

type Named = Pick<PartnerCollectionState, "marketplace" | "chainId" | "contract">;

/** The row of a collection. */
export const isCollection = ({ marketplace, chainId, contract }: Named) => sql`
  marketplace = ${marketplace} and chain_id = ${chainId}
  and contract = ${Buffer.from(contract.slice(2), "hex")}`;

/** Puts the next step off, whatever it is. */
export async function postpone(session: Session, collection: Named, dueAt: Date): Promise<void> {
  await sql`update ops.partner_collection set due_at = ${dueAt} where ${isCollection(collection)}`.execute(
    session,
  );
}

/** Whatever is thought to be known of these slugs' listings may be wrong: a full walk is due at once. */
export async function distrust(
  db: Session,
  marketplace: PartnerName,
  slugs: readonly string[],
  /** As long ago as a full walk must end to be due again. */
  { now, readBefore }: { now: Date; readBefore: Date },
): Promise<void> {
  await sql`
    update ops.partner_collection
    set full_at = least(full_at, ${readBefore}::timestamptz), due_at = least(due_at, ${now}::timestamptz)
    where marketplace = ${marketplace} and slug = any (${[...slugs]}::text[])`.execute(db);
}

/** Begins a walk over a collection's listings. A full one has a number of its own. */
export async function beginPass(
  session: Session,
  collection: Named,
  pass: "full" | "newest",
  now: Date,
): Promise<void> {
  await sql`
    update ops.partner_collection
    set pass = ${pass}, pass_cursor = null, pass_pages = 0, pass_began_at = ${now}, is_read_whole = true,
        pass_number = pass_number + case when ${pass} = 'full' then 1 else 0 end
    where ${isCollection(collection)}`.execute(session);
}

/** Ends the walk. One that is abandoned tells nothing of what it did not see: a full one follows. */
export async function endPass(
  session: Session,
  collection: Named,
  { fullAt, dueAt }: { fullAt: "as it was" | Date | null; dueAt: Date },
): Promise<void> {
  const full = fullAt === "as it was" ? sql`full_at` : sql`${fullAt}::timestamptz`;
  await sql`
    update ops.partner_collection
    set pass = null, pass_cursor = null, pass_pages = 0, full_at = ${full}, due_at = ${dueAt}
    where ${isCollection(collection)}`.execute(session);
}

/** Locks the collection's row. False: the walk is not where it was thought to be, as another process went on with it. */
export async function isWalkedFrom(
  session: Session,
  state: Pick<PartnerCollectionState, "pass" | "passNumber" | "passCursor" | "passPages"> & Named,
): Promise<boolean> {
  const { rows } = await sql`
    select from ops.partner_collection
    where ${isCollection(state)} and pass = ${state.pass} and pass_number = ${state.passNumber}
      and pass_pages = ${state.passPages} and pass_cursor is not distinct from ${state.passCursor}
    for update`.execute(session);
  return rows.length > 0;
}
