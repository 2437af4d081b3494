import type { Logger } from "pino";
import type { ChainId } from "../../../chains/index.ts";
import type { Database } from "../../../projections/database.ts";
import { isRejection } from "../../../projections/domain/rejection.ts";
import { crossListingAnswered } from "../../../projections/facts/cross-listing.ts";
import { appendObservations } from "../../../projections/log/append.ts";
import {
  hasCrossListingTables,
  type QueuedCrossListing,
  readQueuedCrossListings,
} from "../../../projections/reads/cross-listings/read-queued-cross-listings.ts";
import { backOff } from "../log-signal/back-off.ts";
import type { Signal } from "../log-signal/signal.ts";
import { isPartnerFailure, type Partner } from "../marketplaces/partner.ts";

/** Small: each is checked again before it is posted. */
const batchSize = 10;
const idleMs = 60_000;

type PostOptions = {
  db: Database;
  partner: Partner;
  /** The chains served. */
  chainIds: readonly ChainId[];
  /** Notified when the projections have advanced. */
  changeSignal: Signal;
  now: () => Date;
  logger: Logger;
  signal: AbortSignal;
};

/** Queue position after which the next batch starts, and how often in a row the partner failed. */
type PostState = { after: bigint; failures: number };

/**
 * Posts the cross-listings that wait for a partner's answer. The queue is derived from the log and posting is
 * idempotent, so a restart loses and repeats nothing. After a failure it backs off and goes on with the next entry,
 * so that none blocks the others.
 */
export async function runCrossListingPosts(options: PostOptions): Promise<void> {
  const { partner, changeSignal, signal } = options;
  if (partner.postListing === undefined) return;
  const state: PostState = { after: 0n, failures: 0 };
  while (!signal.aborted) {
    const outcome = await tryBatch(options, state);
    if (signal.aborted) return;
    if (outcome === "idle") await changeSignal.wait(idleMs, signal);
    else if (outcome === "failed") await backOff(state.failures, signal);
  }
}

type BatchOutcome = "idle" | "done" | "failed";

/** Internal errors are logged with their cause and retried like failures of the partner. */
async function tryBatch(options: PostOptions, state: PostState): Promise<BatchOutcome> {
  const { partner, logger, signal } = options;
  try {
    return await postBatch(options, state);
  } catch (error) {
    if (!signal.aborted)
      logger.error(
        { err: error, partner: partner.name },
        "posting cross-listings failed, retrying",
      );
    state.failures += 1;
    return "failed";
  }
}

async function postBatch(options: PostOptions, state: PostState): Promise<BatchOutcome> {
  const { db, partner, chainIds, now, signal } = options;
  if (!(await hasCrossListingTables(db))) return "idle";
  const queue = { marketplace: partner.name, chainIds };
  const { after } = state;
  const queued = await readQueuedCrossListings(db, queue, { after, limit: batchSize, now: now() });
  for (const crossListing of queued) {
    if (signal.aborted) return "done";
    const isAnswered = await post(options, crossListing, state);
    state.after = crossListing.position;
    if (!isAnswered) return "failed";
  }
  if (queued.length > 0) return "done";
  // Entries skipped while their listing was inactive have lower positions: start over.
  state.after = 0n;
  return after === 0n ? "idle" : "done";
}

/** False: the partner did not answer. */
async function post(
  options: PostOptions,
  crossListing: QueuedCrossListing,
  state: PostState,
): Promise<boolean> {
  const { db, partner, now, logger } = options;
  const { components, signature, chainId, partnerOrderHash } = crossListing;
  const answer = await partner.postListing?.(chainId, { components, signature });
  if (answer === undefined) return false;
  if (isRejection(answer) && isPartnerFailure(answer)) {
    if (state.failures === 0) {
      logger.warn(
        { partner: partner.name, reason: answer.message },
        "posting cross-listings failed, retrying",
      );
    }
    state.failures += 1;
    return false;
  }
  if (state.failures > 0) logger.info({ partner: partner.name }, "posting cross-listings resumed");
  state.failures = 0;
  const result = isRejection(answer)
    ? ({ status: "rejected", code: "partner_rejected", message: answer.message } as const)
    : ({ status: "posted" } as const);
  await appendObservations(db, [crossListingAnswered(crossListing, result, now())]);
  logger.info(
    { partner: partner.name, partnerOrderHash, status: result.status },
    "cross-listing answered",
  );
  return true;
}
