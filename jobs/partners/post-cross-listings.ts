import type { Logger } from "pino";
import type { ChainId } from "#chains/index.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { appendObservations } from "#projections/log/append.ts";
import type { Database } from "#projections/log/database.ts";
import { crossListingAnswered } from "#projections/partners/cross-listings.ts";
import {
  hasCrossListingTables,
  type QueuedCrossListing,
  readQueuedCrossListings,
} from "#projections/partners/read-cross-listings.ts";
import type { Job, JobOutcome, Waker } from "../runner/job.ts";
import { isPartnerFailure, type Partner, PartnerFailed } from "./partner.ts";

/** Small: each is checked again before it is posted. */
const batchSize = 10;
const idleMs = 60_000;

type PostOptions = {
  db: Database;
  partner: Partner;
  /** The chains served. */
  chainIds: readonly ChainId[];
  /** Notified when the projections have advanced. */
  changeSignal: Waker;
  now: () => Date;
  logger: Logger;
};

/**
 * Posts the cross-listings that wait for a partner's answer. The queue is derived from the log and posting is
 * idempotent, so a restart loses and repeats nothing. After a failure it backs off and goes on with the next entry,
 * so that none blocks the others.
 */
export function crossListingPosts(options: PostOptions): Job[] {
  const { partner, changeSignal } = options;
  if (partner.postListing === undefined) return [];
  const queue: QueueState = { after: 0n };
  return [
    {
      name: "cross-listing posts",
      about: { partner: partner.name },
      every: idleMs,
      wakesOn: changeSignal,
      reads: ["cross_listings", "listings"],
      run: (signal) => postBatch(options, queue, signal),
    },
  ];
}

/** Position after which the next batch starts. */
type QueueState = { after: bigint };

async function postBatch(
  options: PostOptions,
  state: QueueState,
  signal: AbortSignal,
): Promise<JobOutcome | undefined> {
  const { db, partner, chainIds, now } = options;
  if (!(await hasCrossListingTables(db))) return undefined;
  const queue = { marketplace: partner.name, chainIds };
  const { after } = state;
  const queued = await readQueuedCrossListings(db, queue, { after, limit: batchSize, now: now() });
  for (const crossListing of queued) {
    if (signal.aborted) return undefined;
    // One that fails does not hold up those behind it.
    state.after = crossListing.position;
    await post(options, crossListing);
  }
  if (queued.length > 0) return "more";
  // Entries skipped while their listing was inactive have lower positions: start over.
  state.after = 0n;
  return after === 0n ? undefined : "more";
}

/** Throws `PartnerFailed` when the partner does not answer. */
async function post(
  { db, partner, now, logger }: PostOptions,
  crossListing: QueuedCrossListing,
): Promise<void> {
  const { components, signature, chainId, partnerOrderHash } = crossListing;
  const answer = await partner.postListing?.(chainId, { components, signature });
  if (answer === undefined) return;
  if (isRejection(answer) && isPartnerFailure(answer)) throw new PartnerFailed(answer);
  const result = isRejection(answer)
    ? ({ status: "rejected", code: "partner_rejected", message: answer.message } as const)
    : ({ status: "posted" } as const);
  await appendObservations(db, [crossListingAnswered(crossListing, result, now())]);
  logger.info(
    { partner: partner.name, partnerOrderHash, status: result.status },
    "cross-listing answered",
  );
}
