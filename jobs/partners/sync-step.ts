import type { Address } from "viem";
import type { ChainId } from "#chains/index.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { defaultFeeLimits, type FeeLimits, type HeldReason } from "#projections/domain/royalty.ts";
import type { Database } from "#projections/log/database.ts";
import { recordCollection } from "#projections/partners/sync-fees.ts";
import { appendPage, withdrawUnseen } from "#projections/partners/sync-listings.ts";
import {
  beginPass,
  endPass,
  type PartnerCollectionState,
  postponeCollection,
  readDueCollection,
} from "#projections/partners/sync-pass.ts";
import {
  isPartnerFailure,
  type ListingPage,
  type Partner,
  type PartnerFailure,
  type SkippedEntry,
} from "./partner.ts";

/** Sync intervals in milliseconds. */
export const syncIntervals = {
  /** New listings, by default. */
  pollMs: 60_000,
  /** All listings: only a full pass detects withdrawn ones. */
  fullMs: 15 * 60_000,
  /** The collection itself and its fees. */
  describeMs: 6 * 60 * 60_000,
  /** After a failure, and for a collection unknown to the partner. */
  failedMs: 60_000,
  unknownMs: 24 * 60 * 60_000,
};

/** A longer pass is restarted: its cursor may have expired. */
const maxPassMs = 6 * 60 * 60_000;
const maxPages = { full: 20_000, newest: 20 };

export type SyncContext = {
  db: Database;
  partner: Partner;
  /** The chains served. */
  chainIds: readonly ChainId[];
  now: () => Date;
  /** Interval of polls for new listings; default `syncIntervals.pollMs`. */
  pollMs?: number;
  /** Whether registered collections take precedence in this step. */
  registeredFirst?: boolean;
  /** Beyond them a partner's creator fees wait for an operator; default `defaultFeeLimits`. */
  feeLimits?: FeeLimits;
  /** Called with creator fees that newly wait. */
  onHeld?: (held: { chainId: ChainId; contract: Address; reason: HeldReason }) => void;
  /** Called with skipped entries. */
  onSkipped?: (skipped: readonly SkippedEntry[]) => void;
};

/** `idle`: nothing is due. A failure is the partner's and is retried later. */
export type StepOutcome = "idle" | "done" | PartnerFailure;

/**
 * One step of the collection due longest: at most one request for a collection or a page. Facts and progress are
 * committed together, so a restart loses and repeats nothing.
 */
export async function runSyncStep(context: SyncContext): Promise<StepOutcome> {
  const { db, partner, chainIds, registeredFirst = false } = context;
  const now = context.now();
  const selection = { now, registeredFirst };
  const state = await readDueCollection(db, partner.name, chainIds, selection);
  if (state === null) return "idle";
  const failure = await nextStep(context, state, now);
  if (failure === null) return "done";
  await postponeCollection(db, state, addMs(context.now(), syncIntervals.failedMs));
  return failure;
}

async function nextStep(
  context: SyncContext,
  state: PartnerCollectionState,
  now: Date,
): Promise<PartnerFailure | null> {
  const { partner, db } = context;
  const isDescribed = isFresh(state.describedAt, now, syncIntervals.describeMs);
  if (partner.fetchCollection !== undefined && !isDescribed)
    return fetchDescription(context, state, now);
  if (partner.fetchCollection !== undefined && state.slug === null) {
    await postponeCollection(db, state, addMs(now, syncIntervals.unknownMs));
    return null;
  }
  if (state.pass === null || !isFresh(state.passStartedAt, now, maxPassMs)) {
    const isFullDue = !isFresh(state.fullAt, now, syncIntervals.fullMs);
    await beginPass(db, state, isFullDue ? "full" : "newest", now);
    return null;
  }
  if (state.pass === "full" && state.passPages > 0 && state.passCursor === null) {
    await withdrawUnseen(db, state, { now, nextAt: nextPollAt(context, now) });
    return null;
  }
  return fetchPage(context, state, state.pass);
}

async function fetchDescription(
  { db, partner, feeLimits: limits = defaultFeeLimits, onHeld }: SyncContext,
  state: PartnerCollectionState,
  now: Date,
): Promise<PartnerFailure | null> {
  const { chainId, contract } = state;
  const found = await partner.fetchCollection?.(chainId, contract);
  if (found === undefined) return null;
  if (isRejection(found)) {
    if (isPartnerFailure(found)) return found;
    const dueAt = addMs(now, syncIntervals.unknownMs);
    const unknown = { slug: null, fees: null, isMember: false };
    await recordCollection(db, state, unknown, { now, dueAt, limits });
    return null;
  }
  const fees = found.fees
    .filter(({ isService }) => !isService)
    .map(({ recipient, bps, isRequired }) => ({ recipient, bps, isRequired }));
  // It stays due: its listings are fetched next.
  const reading = { slug: found.slug, fees, isMember: found.contracts.includes(contract) };
  const reason = await recordCollection(db, state, reading, { now, dueAt: state.dueAt, limits });
  if (reason !== null) onHeld?.({ chainId, contract, reason });
  return null;
}

async function fetchPage(
  context: SyncContext,
  state: PartnerCollectionState,
  pass: "full" | "newest",
): Promise<PartnerFailure | null> {
  const { db, partner } = context;
  const { chainId, passCursor: cursor } = state;
  const order = pass === "full" ? "any" : "newest";
  const page = await partner.fetchListings(chainId, state, { order, cursor });
  const now = context.now();
  if (isRejection(page)) {
    if (isPartnerFailure(page)) return page;
    const waitMs = page.rejected === "not_found" ? syncIntervals.unknownMs : syncIntervals.failedMs;
    await endPass(db, state, { fullAt: null, dueAt: addMs(now, waitMs) });
    return null;
  }
  context.onSkipped?.(page.skipped);
  if (cursorLoops(state, pass, page)) {
    await endPass(db, state, { fullAt: null, dueAt: addMs(now, syncIntervals.failedMs) });
    return null;
  }
  await appendPage(db, state, page, { now, nextAt: nextPollAt(context, now) });
  return null;
}

/** The cursor repeats, or the pass exceeds its maximum of pages. */
function cursorLoops(
  { passCursor, passPages }: PartnerCollectionState,
  pass: "full" | "newest",
  page: ListingPage,
): boolean {
  if (page.cursor === null) return false;
  return page.cursor === passCursor || passPages + 1 >= maxPages[pass];
}

const nextPollAt = ({ pollMs = syncIntervals.pollMs }: SyncContext, now: Date) =>
  addMs(now, pollMs);

const addMs = (time: Date, ms: number) => new Date(time.getTime() + ms);

const isFresh = (date: Date | null, now: Date, ms: number): boolean =>
  date !== null && now.getTime() - date.getTime() < ms;
