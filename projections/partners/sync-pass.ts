import { sql } from "kysely";
import type { Address } from "viem";
import type { ChainId } from "#chains/index.ts";
import { type PartnerName, partnerNames } from "../domain/partners.ts";
import type { Database, Session } from "../log/database.ts";
import { bytea } from "../log/sql-values.ts";

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

/** A contract whose listings are synchronised from a partner, and how far that is. */
export type PartnerCollectionState = {
  marketplace: PartnerName;
  chainId: ChainId;
  contract: Address;
  slug: string | null;
  /** Recipients of creator fees according to any partner. */
  creators: Address[];
  describedAt: Date | null;
  /** When its next page is due. */
  dueAt: Date;
  /** The pass over its listings in progress. */
  pass: "full" | "newest" | null;
  passNumber: bigint;
  passCursor: string | null;
  passPages: number;
  passStartedAt: Date | null;
  /** When the last full pass ended. */
  fullAt: Date | null;
};

/** Adds contracts of known collections, due at once. Returns how many were added or changed `is_registered`. */
export async function enrollCollections(
  db: Database,
  marketplace: PartnerName,
  chainIds: readonly ChainId[],
  now: Date,
): Promise<number> {
  const { numAffectedRows } = await sql`
    insert into ops.partner_collection as p (marketplace, chain_id, contract, is_registered, due_at)
    select ${marketplace}, k.chain_id, k.address, c.registered, ${now}::timestamptz
    from collections.contract m join log.contract k using (contract_id)
    join collections.collection c using (collection_id)
    where k.chain_id = any (${[...chainIds]}::int[]) and not exists (
      select from ops.partner_collection known
      where known.marketplace = ${marketplace} and known.chain_id = k.chain_id and known.contract = k.address
        and known.is_registered = c.registered)
    on conflict (marketplace, chain_id, contract) do update set is_registered = excluded.is_registered
      where p.is_registered <> excluded.is_registered`.execute(db);
  return Number(numAffectedRows ?? 0n);
}

/** The contract that is due the longest, optionally those of the registry first. */
export async function readDueCollection(
  db: Database,
  marketplace: PartnerName,
  chainIds: readonly ChainId[],
  { now, registeredFirst }: { now: Date; registeredFirst: boolean },
): Promise<PartnerCollectionState | null> {
  const { rows } = await sql<PartnerCollectionState>`
    select c.marketplace, c.chain_id as "chainId", c.contract, c.slug, c.described_at as "describedAt",
           c.due_at as "dueAt",
           c.pass, c.pass_number as "passNumber", c.pass_cursor as "passCursor", c.pass_pages as "passPages",
           c.pass_started_at as "passStartedAt", c.full_at as "fullAt",
           array(
             select distinct fee ->> 'recipient'
             from ops.partner_collection source cross join lateral jsonb_array_elements(source.fees) fee
             where source.marketplace = any (${[...partnerNames]}::text[]) and source.chain_id = c.chain_id
               and source.contract = c.contract and source.fees is not null
           ) as creators
    from ops.partner_collection c
    where c.marketplace = ${marketplace} and c.due_at <= ${now} and c.chain_id = any (${[...chainIds]}::int[])
    order by c.is_registered and ${registeredFirst}::boolean desc, c.due_at, c.chain_id, c.contract
    limit 1`.execute(db);
  return rows[0] ?? null;
}
