import { sql } from "kysely";
import type { Address, Hex } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { PartnerName } from "../domain/partners.ts";
import { appendObservationsIn } from "../log/append.ts";
import type { Database, Session } from "../log/database.ts";
import { kindLiteral } from "../log/fact-kinds.ts";
import { byteaArray } from "../log/sql-values.ts";
import {
  type PartnerListing,
  partnerListingSeen,
  partnerListingWithdrawn,
} from "./partner-listing.ts";
import { endPass, isCollection, lockPass, type PartnerCollectionState } from "./sync-pass.ts";

type PartnerPage = {
  listings: readonly PartnerListing[];
  /** Null: this is the last page. */
  cursor: string | null;
  skipped: readonly {
    path: string;
    reason: string;
    /** The listing that the entry may be: a known one, any one, or none. */
    concerns: Hex | "any" | "none";
  }[];
};

type PageOutcome = {
  appended: number;
  /** Whether the pass has a further step. */
  hasMore: boolean;
};

type Times = {
  now: Date;
  /** When the next pass is due, if this one ends. */
  nextAt: Date;
};

/**
 * Appends the listings of a page that were not visible before, and advances the pass, in one transaction. Null: another
 * process has done so already. A pass over the newest listings ends at a page without new ones.
 */
export async function appendPage(
  db: Database,
  state: PartnerCollectionState,
  page: PartnerPage,
  times: Times,
): Promise<PageOutcome | null> {
  return await db.transaction().execute(async (session) => {
    if (!(await lockPass(session, state))) return null;
    const appended = await recordListings(session, state, page, times.now);
    const hasMore = state.pass === "full" || (page.cursor !== null && appended > 0);
    if (hasMore) await advancePass(session, state, page, times.now);
    else await endPass(session, state, { fullAt: "unchanged", dueAt: times.nextAt });
    return { appended, hasMore };
  });
}

type PageEntries = Pick<PartnerPage, "listings" | "skipped">;

/** Appends listings not visible before. The caller's transaction holds the collection's row lock. Returns how many. */
async function recordListings(
  session: Session,
  state: Pick<PartnerCollectionState, "marketplace" | "chainId" | "passNumber">,
  page: PageEntries,
  now: Date,
): Promise<number> {
  const hashes = page.listings.map(({ orderHash }) => orderHash);
  const known = await readKnown(session, state, hashes);
  const appended = await appendNewlySeen(session, page.listings, known, now);
  await markSeen(session, state, page, known);
  await countSkipped(session, state, page.skipped, now);
  return appended;
}

type Source = Pick<PartnerCollectionState, "marketplace" | "chainId">;
type Known = { orderHash: Hex; generation: number; isVisible: boolean };

/** How often each was withdrawn: from the stored row, else counted in the log. */
async function readKnown(
  session: Session,
  { marketplace, chainId }: Source,
  hashes: readonly Hex[],
): Promise<Map<Hex, Known>> {
  const { rows } = await sql<Known>`
    select requested.hash as "orderHash", coalesce(l.generation, logged.withdrawals) as generation,
           coalesce(l.is_visible, false) as "isVisible"
    from unnest(${byteaArray(hashes)}) as requested (hash)
    left join ops.partner_listing l
      on l.marketplace = ${marketplace} and l.chain_id = ${chainId} and l.order_hash = requested.hash
    cross join lateral (
      select count(*)::int as withdrawals from log.fact f join log.contract k using (contract_id)
      where l.order_hash is null and f.order_hash = requested.hash and k.chain_id = ${chainId}
        and f.kind = ${kindLiteral("partner_listing_withdrawn")} and f.payload ->> 'marketplace' = ${marketplace}
    ) logged`.execute(session);
  return new Map(rows.map((known) => [known.orderHash, known]));
}

async function appendNewlySeen(
  session: Session,
  listings: readonly PartnerListing[],
  known: ReadonlyMap<Hex, Known>,
  now: Date,
): Promise<number> {
  const fresh = new Map(listings.map((listing) => [listing.orderHash, listing]));
  for (const { orderHash, isVisible } of known.values()) if (isVisible) fresh.delete(orderHash);
  const observations = [...fresh.values()].map((listing) =>
    partnerListingSeen(listing, {
      generation: known.get(listing.orderHash)?.generation ?? 0,
      seenAt: now,
    }),
  );
  if (observations.length > 0) await appendObservationsIn(session, observations);
  return observations.length;
}

/** Marks what the page shows as seen by the pass, listings in skipped entries included. */
async function markSeen(
  session: Session,
  { marketplace, chainId, passNumber }: Source & Pick<PartnerCollectionState, "passNumber">,
  { listings, skipped }: PageEntries,
  known: ReadonlyMap<Hex, Known>,
): Promise<void> {
  const rows = listings.map(({ orderHash, contract, components }) => ({
    generation: known.get(orderHash)?.generation ?? 0,
    order_hash: orderHash.slice(2),
    contract: contract.slice(2),
    end_time: components.endTime.toString(),
  }));
  await sql`
    insert into ops.partner_listing as l (marketplace, chain_id, order_hash, contract, generation, is_visible,
                                          pass_number, end_time)
    select distinct on (order_hash) ${marketplace}, ${chainId}::int, decode(order_hash, 'hex'),
           decode(contract, 'hex'), generation, true, ${passNumber}::bigint, end_time
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as row (order_hash text, contract text, generation integer, end_time numeric)
    on conflict (marketplace, chain_id, order_hash)
    do update set is_visible = true, pass_number = excluded.pass_number
      where not l.is_visible or l.pass_number <> excluded.pass_number`.execute(session);
  const unreadable = skipped.flatMap(({ concerns }) =>
    concerns === "any" || concerns === "none" ? [] : [concerns],
  );
  if (unreadable.length === 0) return;
  await sql`
    update ops.partner_listing set pass_number = ${passNumber}
    where marketplace = ${marketplace} and chain_id = ${chainId} and order_hash = any (${byteaArray(unreadable)})`.execute(
    session,
  );
}

/** After a pass with an entry that may be any listing nothing is withdrawn. */
async function advancePass(
  session: Session,
  state: PartnerCollectionState,
  { cursor, skipped }: PartnerPage,
  now: Date,
): Promise<void> {
  const isComplete = skipped.every(({ concerns }) => concerns !== "any");
  await sql`
    update ops.partner_collection
    set pass_cursor = ${cursor}, pass_pages = pass_pages + 1, due_at = ${now},
        is_pass_complete = is_pass_complete and ${isComplete}
    where ${isCollection(state)}`.execute(session);
}

const batchSize = 500;

/**
 * Withdraws a batch of listings that a complete full pass did not see, and ends the pass after the last batch. Rows of
 * expired listings are deleted: the clock ends those. Returns how many were withdrawn.
 */
export async function withdrawUnseen(
  db: Database,
  state: PartnerCollectionState,
  { now, nextAt }: { now: Date; nextAt: Date },
): Promise<number> {
  return await db.transaction().execute(async (session) => {
    if (!(await lockPass(session, state))) return 0;
    const unseen = (await isPassComplete(session, state))
      ? await readUnseen(session, state, now)
      : [];
    if (unseen.length > 0) await withdrawListings(session, state, unseen, now);
    if (unseen.length < batchSize) {
      await endPass(session, state, { fullAt: now, dueAt: nextAt });
    }
    return unseen.length;
  });
}

async function isPassComplete(session: Session, state: PartnerCollectionState): Promise<boolean> {
  const { rows } = await sql`
    select from ops.partner_collection where ${isCollection(state)} and is_pass_complete`.execute(
    session,
  );
  return rows.length > 0;
}

type Unseen = { orderHash: Hex; contract: Address; generation: number };

async function readUnseen(
  session: Session,
  state: PartnerCollectionState,
  now: Date,
): Promise<Unseen[]> {
  const seconds = BigInt(Math.floor(now.getTime() / 1_000));
  await sql`
    delete from ops.partner_listing where ${isCollection(state)} and end_time <= ${seconds}`.execute(
    session,
  );
  const { rows } = await sql<Unseen>`
    select order_hash as "orderHash", contract, generation from ops.partner_listing
    where ${isCollection(state)} and is_visible and pass_number < ${state.passNumber}
    order by order_hash limit ${batchSize}`.execute(session);
  return rows;
}

/** Appends that listings were withdrawn. The caller's transaction holds the collection's row lock. */
async function withdrawListings(
  session: Session,
  { marketplace, chainId }: Pick<PartnerCollectionState, "marketplace" | "chainId">,
  unseen: readonly Unseen[],
  now: Date,
): Promise<void> {
  const observations = unseen.map(({ generation, ...listing }) =>
    partnerListingWithdrawn(
      { ...listing, marketplace, chainId },
      { generation, seenAt: now, reason: "not_shown" },
    ),
  );
  await appendObservationsIn(session, observations);
  await sql`
    update ops.partner_listing set is_visible = false, generation = generation + 1
    where marketplace = ${marketplace} and chain_id = ${chainId}
      and order_hash = any (${byteaArray(unseen.map(({ orderHash }) => orderHash))})`.execute(
    session,
  );
}

/** Records a listing from a stream as if a page had shown it, if its contract is synchronised. */
export async function recordListed(
  db: Database,
  listing: PartnerListing,
  now: Date,
): Promise<void> {
  await db.transaction().execute(async (session) => {
    const state = await lockCollection(session, listing);
    if (state === null) return;
    await recordListings(
      session,
      { ...listing, ...state },
      { listings: [listing], skipped: [] },
      now,
    );
  });
}

type ListingKey = { marketplace: PartnerName; chainId: ChainId; orderHash: Hex };

/** Withdraws a listing that a stream reported as ended. */
export async function recordDelisted(db: Database, named: ListingKey, now: Date): Promise<void> {
  await db.transaction().execute(async (session) => {
    const before = await readVisible(session, named);
    if (before === null) return;
    // A pass may change the listing until the collection's row is locked: read again under the lock.
    await lockCollection(session, { ...named, contract: before.contract });
    const visible = await readVisible(session, named);
    if (visible !== null) await withdrawListings(session, named, [{ ...named, ...visible }], now);
  });
}

async function lockCollection(
  session: Session,
  collection: Pick<PartnerListing, "marketplace" | "chainId" | "contract">,
): Promise<{ passNumber: bigint } | null> {
  const { rows } = await sql<{ passNumber: bigint }>`
    select pass_number as "passNumber" from ops.partner_collection
    where ${isCollection(collection)} for update`.execute(session);
  return rows[0] ?? null;
}

async function readVisible(
  session: Session,
  { marketplace, chainId, orderHash }: ListingKey,
): Promise<{ contract: Address; generation: number } | null> {
  const { rows } = await sql<{ contract: Address; generation: number }>`
    select contract, generation from ops.partner_listing
    where marketplace = ${marketplace} and chain_id = ${chainId} and is_visible
      and order_hash = ${Buffer.from(orderHash.slice(2), "hex")}`.execute(session);
  return rows[0] ?? null;
}

/** Counts skipped entries of a partner by reason, with the path of the last one. */
export async function countSkipped(
  session: Session,
  { marketplace }: { marketplace: PartnerName },
  skipped: readonly { reason: string; path: string }[],
  now: Date,
): Promise<void> {
  if (skipped.length === 0) return;
  const rows = skipped.map(({ reason, path }) => ({ reason, path: path.slice(0, 200) }));
  await sql`
    insert into ops.partner_skip as s (marketplace, reason, entries, last_path, last_at)
    select ${marketplace}, reason, count(*), min(path), ${now}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as row (reason text, path text)
    group by reason order by reason
    on conflict (marketplace, reason) do update
    set entries = s.entries + excluded.entries, last_path = excluded.last_path, last_at = excluded.last_at`.execute(
    session,
  );
}
