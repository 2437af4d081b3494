import type { ChainId } from "../../../abis/deployments.ts";
import type { Database } from "../../../projections/database.ts";
import { isRejection, type Rejection } from "../../../projections/domain/rejection.ts";
import { appendPage } from "../../../projections/partner-sync/append-page.ts";
import {
  type PartnerCollectionState,
  readDueCollection,
} from "../../../projections/partner-sync/due-collection.ts";
import { beginPass, endPass, postpone } from "../../../projections/partner-sync/move-collection.ts";
import { recordCollection } from "../../../projections/partner-sync/record-collection.ts";
import { withdrawUnseen } from "../../../projections/partner-sync/withdraw-unseen.ts";
import type { ListingPage, Partner, PartnerFailure, Skipped } from "./partner.ts";

/** How often what is looked at. Milliseconds. */
export const syncTimes = {
  /** Listings that are new, where nothing else is asked for. */
  newestMs: 60_000,
  /** All listings: what is gone shows only so. */
  fullMs: 15 * 60_000,
  /** The collection itself, and its fees. */
  describeMs: 6 * 60 * 60_000,
  /** After a failure, and where a partner knows no such collection. */
  failedMs: 60_000,
  unknownMs: 24 * 60 * 60_000,
};

/** A walk that takes longer is begun anew: its cursor may be worth nothing any more. */
const longestPassMs = 6 * 60 * 60_000;
const mostPages = { full: 20_000, newest: 20 };

export type SyncWork = {
  db: Database;
  partner: Partner;
  /** The chains served. */
  chainIds: readonly ChainId[];
  now: () => Date;
  /** How often a collection is asked for what is new; `syncTimes.newestMs` without it. */
  newestMs?: number;
  /** Whether collections of the registry go before others this time. */
  registeredFirst?: boolean;
  /** Told of entries that were left out. */
  onSkipped?: (skipped: readonly Skipped[]) => void;
};

/** `idle`: nothing is due. A failure is the partner's: it is asked later. */
export type StepOutcome = "idle" | "done" | PartnerFailure;

/**
 * One step of one collection, the one that waits longest: asks the partner at most for a collection or a page. What it
 * finds and how far it is are committed together, so whoever goes on after it was killed loses and repeats nothing.
 */
export async function syncStep(work: SyncWork): Promise<StepOutcome> {
  const { db, partner, chainIds, registeredFirst = false } = work;
  const now = work.now();
  const turn = { now, registeredFirst };
  const state = await readDueCollection(db, partner.name, chainIds, turn);
  if (state === null) return "idle";
  const failure = await stepOf(work, state, now);
  if (failure === null) return "done";
  await postpone(db, state, after(work.now(), syncTimes.failedMs));
  return failure;
}

async function stepOf(
  work: SyncWork,
  state: PartnerCollectionState,
  now: Date,
): Promise<PartnerFailure | null> {
  const { partner, db } = work;
  const isDescribed = isWithin(state.describedAt, now, syncTimes.describeMs);
  if (partner.fetchCollection !== undefined && !isDescribed) return describe(work, state, now);
  if (partner.fetchCollection !== undefined && state.slug === null) {
    await postpone(db, state, after(now, syncTimes.unknownMs));
    return null;
  }
  if (state.pass === null || !isWithin(state.passBeganAt, now, longestPassMs)) {
    const isFullDue = !isWithin(state.fullAt, now, syncTimes.fullMs);
    await beginPass(db, state, isFullDue ? "full" : "newest", now);
    return null;
  }
  if (state.pass === "full" && state.passPages > 0 && state.passCursor === null) {
    await withdrawUnseen(db, state, { now, nextAt: nextNewest(work, now) });
    return null;
  }
  return readPage(work, state, state.pass);
}

async function describe(
  { db, partner }: SyncWork,
  state: PartnerCollectionState,
  now: Date,
): Promise<PartnerFailure | null> {
  const found = await partner.fetchCollection?.(state.chainId, state.contract);
  if (found === undefined) return null;
  if (isRejection(found)) {
    if (isFailure(found)) return found;
    const dueAt = after(now, syncTimes.unknownMs);
    await recordCollection(db, state, { slug: null, fees: null }, { now, dueAt });
    return null;
  }
  const fees = found.fees
    .filter(({ isService }) => !isService)
    .map(({ recipient, bps, isRequired }) => ({ recipient, bps, isRequired }));
  // It is its turn still: what it lists is asked for next.
  await recordCollection(db, state, { slug: found.slug, fees }, { now, dueAt: state.dueAt });
  return null;
}

async function readPage(
  work: SyncWork,
  state: PartnerCollectionState,
  pass: "full" | "newest",
): Promise<PartnerFailure | null> {
  const { db, partner } = work;
  const { chainId, passCursor: cursor } = state;
  const order = pass === "full" ? "any" : "newest";
  const page = await partner.fetchListings(chainId, state, { order, cursor });
  const now = work.now();
  if (isRejection(page)) {
    if (isFailure(page)) return page;
    const waitMs = page.rejected === "not_found" ? syncTimes.unknownMs : syncTimes.failedMs;
    await endPass(db, state, { fullAt: null, dueAt: after(now, waitMs) });
    return null;
  }
  work.onSkipped?.(page.skipped);
  if (isAstray(state, pass, page)) {
    await endPass(db, state, { fullAt: null, dueAt: after(now, syncTimes.failedMs) });
    return null;
  }
  await appendPage(db, state, page, { now, nextAt: nextNewest(work, now) });
  return null;
}

/** A cursor that leads to itself, or a walk without an end. */
function isAstray(
  { passCursor, passPages }: PartnerCollectionState,
  pass: "full" | "newest",
  page: ListingPage,
): boolean {
  if (page.cursor === null) return false;
  return page.cursor === passCursor || passPages + 1 >= mostPages[pass];
}

const isFailure = (rejection: Rejection): rejection is PartnerFailure =>
  rejection.rejected === "upstream_error";

const nextNewest = ({ newestMs = syncTimes.newestMs }: SyncWork, now: Date) => after(now, newestMs);

const after = (moment: Date, ms: number) => new Date(moment.getTime() + ms);

const isWithin = (moment: Date | null, now: Date, ms: number): boolean =>
  moment !== null && now.getTime() - moment.getTime() < ms;
