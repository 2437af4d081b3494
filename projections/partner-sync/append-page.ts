import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database, Session } from "../log/database.ts";
import { type PartnerListing, partnerListingSeen } from "../facts/partner-listing.ts";
import { appendObservationsIn } from "../log/append.ts";
import { kindLiteral } from "../log/fact-kinds.ts";
import { byteaArray } from "../log/sql-values.ts";
import { endPass, isCollection, lockPass } from "./collection-pass.ts";
import { countSkipped } from "./count-skipped.ts";
import type { PartnerCollectionState } from "./due-collection.ts";

export type PartnerPage = {
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

export type PageOutcome = {
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
export async function recordListings(
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
