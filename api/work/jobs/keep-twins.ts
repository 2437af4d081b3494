import type { Logger } from "pino";
import type { ChainId } from "../../../abis/deployments.ts";
import type { Database } from "../../../projections/database.ts";
import { isRejection } from "../../../projections/domain/rejection.ts";
import { twinAnswered } from "../../../projections/facts/twin-facts.ts";
import { appendObservations } from "../../../projections/log/append.ts";
import {
  haveTwins,
  type QueuedTwin,
  readTwinQueue,
} from "../../../projections/reads/cross-listings/read-queue.ts";
import type { Wake } from "../log-signal/wake.ts";
import type { Partner } from "../marketplaces/partner.ts";
import { restAfterFailures } from "./rest-after-failures.ts";

/** Few: each is looked at again before it is posted. */
const twinsAtOnce = 10;
const idleMs = 60_000;

type Work = {
  db: Database;
  partner: Partner;
  /** The chains served. */
  chainIds: readonly ChainId[];
  /** Rung when the projections have moved. */
  wake: Wake;
  now: () => Date;
  logger: Logger;
  signal: AbortSignal;
};

/** Where in the queue the next twin is looked for, and how often in a row the partner failed. */
type Progress = { after: bigint; failures: number };

/**
 * Posts the twins that wait for a partner's answer. The queue is what the log tells, and a twin that is there already
 * counts as posted: whoever goes on after it was killed loses and repeats nothing. After a failure the partner rests
 * ever longer and the next twin has its turn, so that none holds up the others.
 */
export async function keepTwins(work: Work): Promise<void> {
  const { partner, wake, signal } = work;
  if (partner.postListing === undefined) return;
  const progress: Progress = { after: 0n, failures: 0 };
  while (!signal.aborted) {
    const outcome = await tryStep(work, progress);
    if (signal.aborted) return;
    if (outcome === "idle") await wake.wait(idleMs, signal);
    else if (outcome === "failed") await restAfterFailures(progress.failures, signal);
  }
}

type Outcome = "idle" | "done" | "failed";

/** Faults of ours are told with their cause, and tried again like those of a partner. */
async function tryStep(work: Work, progress: Progress): Promise<Outcome> {
  const { partner, logger, signal } = work;
  try {
    return await step(work, progress);
  } catch (error) {
    if (!signal.aborted) logger.error({ err: error }, `twins are not posted to ${partner.name}`);
    progress.failures += 1;
    return "failed";
  }
}

async function step(work: Work, progress: Progress): Promise<Outcome> {
  const { db, partner, chainIds, now, signal } = work;
  if (!(await haveTwins(db))) return "idle";
  const queue = { marketplace: partner.name, chainIds };
  const { after } = progress;
  const twins = await readTwinQueue(db, queue, { after, limit: twinsAtOnce, now: now() });
  for (const twin of twins) {
    if (signal.aborted) return "done";
    const isAnswered = await post(work, twin, progress);
    progress.after = twin.position;
    if (!isAnswered) return "failed";
  }
  if (twins.length > 0) return "done";
  // What waited for its listing to be active again stands before what came later.
  progress.after = 0n;
  return after === 0n ? "idle" : "done";
}

/** False: the partner did not answer. */
async function post(work: Work, twin: QueuedTwin, progress: Progress): Promise<boolean> {
  const { db, partner, now, logger } = work;
  const { components, signature, chainId, twinHash } = twin;
  const answer = await partner.postListing?.(chainId, { components, signature });
  if (answer === undefined) return false;
  if (isRejection(answer) && answer.rejected === "upstream_error") {
    if (progress.failures === 0) {
      logger.warn(`twins are not posted to ${partner.name}, trying again: ${answer.message}`);
    }
    progress.failures += 1;
    return false;
  }
  if (progress.failures > 0) logger.info(`twins are posted to ${partner.name} again`);
  progress.failures = 0;
  const told = isRejection(answer)
    ? ({ status: "rejected", code: "partner_rejected", message: answer.message } as const)
    : ({ status: "posted" } as const);
  await appendObservations(db, [twinAnswered(twin, told, now())]);
  logger.info({ twin: twinHash }, `a twin is ${told.status} at ${partner.name}`);
  return true;
}
