import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database, Session } from "../database.ts";
import { type PartnerListing, partnerListingSeen } from "../facts/partner-listing.ts";
import { appendObservationsIn } from "../log/append.ts";
import { factKind } from "../log/fact-kind.ts";
import { bytes } from "../reads/orders/read-shown.ts";
import { countSkipped } from "./count-skipped.ts";
import type { PartnerCollectionState } from "./due-collection.ts";
import { endPass, isCollection, isWalkedFrom } from "./move-collection.ts";

export type PartnerPage = {
  listings: readonly PartnerListing[];
  /** Null: it is the last. */
  cursor: string | null;
  skipped: readonly {
    path: string;
    reason: string /** As the partner's port tells it. */;
    standsFor: Hex | "any" | "none";
  }[];
};

export type PageOutcome = {
  appended: number;
  /** Whether the walk over the collection goes on. */
  goesOn: boolean;
};

type Times = { now: Date /** When the next walk is due, if this one ends. */; nextAt: Date };

/**
 * Appends what a page shows that was not shown before, and moves the walk's cursor, in one transaction. Null: another
 * process did so already. A walk over what is newest ends at a page without news.
 */
export async function appendPage(
  db: Database,
  state: PartnerCollectionState,
  page: PartnerPage,
  times: Times,
): Promise<PageOutcome | null> {
  return await db.transaction().execute(async (session) => {
    if (!(await isWalkedFrom(session, state))) return null;
    const appended = await takeIn(session, state, page, times.now);
    const goesOn = state.pass === "full" || (page.cursor !== null && appended > 0);
    if (goesOn) await moveOn(session, state, page, times.now);
    else await endPass(session, state, { fullAt: "as it was", dueAt: times.nextAt });
    return { appended, goesOn };
  });
}

type Taken = Pick<PartnerPage, "listings" | "skipped">;

/** Appends what was not shown before, in the caller's transaction, which holds the collection's row. Returns how many. */
export async function takeIn(
  session: Session,
  state: Pick<PartnerCollectionState, "marketplace" | "chainId" | "passNumber">,
  page: Taken,
  now: Date,
): Promise<number> {
  const hashes = page.listings.map(({ orderHash }) => orderHash);
  const known = await readKnown(session, state, hashes);
  const appended = await appendNews(session, page.listings, known, now);
  await markSeen(session, state, page, known);
  await countSkipped(session, state, page.skipped, now);
  return appended;
}

type Place = Pick<PartnerCollectionState, "marketplace" | "chainId">;
type Known = { orderHash: Hex; generation: number; isShown: boolean };

/** How often each was withdrawn; of those that no row is kept of, the log tells it. */
async function readKnown(
  session: Session,
  { marketplace, chainId }: Place,
  hashes: readonly Hex[],
): Promise<Map<Hex, Known>> {
  const { rows } = await sql<Known>`
    select asked.hash as "orderHash", coalesce(l.generation, told.withdrawn) as generation,
           coalesce(l.is_shown, false) as "isShown"
    from unnest(${bytes(hashes)}) as asked (hash)
    left join ops.partner_listing l
      on l.marketplace = ${marketplace} and l.chain_id = ${chainId} and l.order_hash = asked.hash
    cross join lateral (
      select count(*)::int as withdrawn from log.fact f join log.contract k using (contract_id)
      where l.order_hash is null and f.order_hash = asked.hash and k.chain_id = ${chainId}
        and f.kind = ${sql.lit(factKind.partner_listing_withdrawn)} and f.payload ->> 'marketplace' = ${marketplace}
    ) told`.execute(session);
  return new Map(rows.map((known) => [known.orderHash, known]));
}

async function appendNews(
  session: Session,
  listings: readonly PartnerListing[],
  known: ReadonlyMap<Hex, Known>,
  now: Date,
): Promise<number> {
  const fresh = new Map(listings.map((listing) => [listing.orderHash, listing]));
  for (const { orderHash, isShown } of known.values()) if (isShown) fresh.delete(orderHash);
  const news = [...fresh.values()].map((listing) =>
    partnerListingSeen(listing, {
      generation: known.get(listing.orderHash)?.generation ?? 0,
      seenAt: now,
    }),
  );
  if (news.length > 0) await appendObservationsIn(session, news);
  return news.length;
}

/** What is skipped now but was taken in before is still shown. */
async function markSeen(
  session: Session,
  { marketplace, chainId, passNumber }: Place & Pick<PartnerCollectionState, "passNumber">,
  { listings, skipped }: Taken,
  known: ReadonlyMap<Hex, Known>,
): Promise<void> {
  const rows = listings.map(({ orderHash, contract, components }) => ({
    generation: known.get(orderHash)?.generation ?? 0,
    order_hash: orderHash.slice(2),
    contract: contract.slice(2),
    end_time: components.endTime.toString(),
  }));
  await sql`
    insert into ops.partner_listing as l (marketplace, chain_id, order_hash, contract, generation, is_shown,
                                          pass_number, end_time)
    select distinct on (order_hash) ${marketplace}, ${chainId}::int, decode(order_hash, 'hex'),
           decode(contract, 'hex'), generation, true, ${passNumber}::bigint, end_time
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as row (order_hash text, contract text, generation integer, end_time numeric)
    on conflict (marketplace, chain_id, order_hash)
    do update set is_shown = true, pass_number = excluded.pass_number
      where not l.is_shown or l.pass_number <> excluded.pass_number`.execute(session);
  const unread = skipped.flatMap(({ standsFor }) =>
    standsFor === "any" || standsFor === "none" ? [] : [standsFor],
  );
  if (unread.length === 0) return;
  await sql`
    update ops.partner_listing set pass_number = ${passNumber}
    where marketplace = ${marketplace} and chain_id = ${chainId} and order_hash = any (${bytes(unread)})`.execute(
    session,
  );
}

/** An entry that may be any listing: nothing counts as withdrawn after such a walk. */
async function moveOn(
  session: Session,
  state: PartnerCollectionState,
  { cursor, skipped }: PartnerPage,
  now: Date,
): Promise<void> {
  const isWhole = skipped.every(({ standsFor }) => standsFor !== "any");
  await sql`
    update ops.partner_collection
    set pass_cursor = ${cursor}, pass_pages = pass_pages + 1, due_at = ${now},
        is_read_whole = is_read_whole and ${isWhole}
    where ${isCollection(state)}`.execute(session);
}
