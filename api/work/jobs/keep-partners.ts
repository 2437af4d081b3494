import type { Logger } from "pino";
import type { ChainId } from "../../../abis/deployments.ts";
import type { Database } from "../../../projections/database.ts";
import { enrolCollections } from "../../../projections/partner-sync/due-collection.ts";
import { haveCollectionsReached } from "../../../projections/reads/collections/undescribed.ts";
import type { Partner, Skipped } from "../marketplaces/partner.ts";
import { type StepOutcome, syncStep } from "../marketplaces/sync-step.ts";
import { type HearingLimits, hearPartner } from "./hear-partners.ts";
import { pause, restAfterFailures } from "./rest-after-failures.ts";

const pollMs = 2_000;
const enrolMs = 30_000;

type Work = {
  db: Database;
  partner: Partner;
  /** The chains served. */
  chainIds: readonly ChainId[];
  /** Between two looks at what a collection has new. */
  intervalMs: number;
  now: () => Date;
  /** How its stream is listened to, where that is to differ. */
  limits?: Partial<HearingLimits>;
  logger: Logger;
  signal: AbortSignal;
};

type OnSkipped = (skipped: readonly Skipped[]) => void;

/** Takes a partner's listings into the log: by asking for all of them, and by listening where the partner tells some. */
export async function keepPartner(work: Work): Promise<void> {
  const onSkipped = tellOnce(work.logger, work.partner.name);
  await Promise.all([keepAsking(work, onSkipped), hearPartner({ ...work, onSkipped })]);
}

/**
 * Collection by collection in turns; every other turn belongs to those of the registry, which thousands of others would
 * else keep waiting. A partner that fails is asked ever more slowly.
 */
async function keepAsking(work: Work, onSkipped: OnSkipped): Promise<void> {
  const { db, partner, chainIds, intervalMs: newestMs, now, logger, signal } = work;
  let enrolAt = 0;
  let registeredFirst = false;
  let failures = 0;
  while (!signal.aborted) {
    if (now().getTime() >= enrolAt) {
      enrolAt = now().getTime() + enrolMs;
      await enrol(work);
    }
    registeredFirst = !registeredFirst;
    const turn = { db, partner, chainIds, newestMs, now, onSkipped, registeredFirst };
    const outcome = await tryStep(work, () => syncStep(turn));
    if (signal.aborted) return;
    failures = tellChange(logger, partner.name, outcome, failures);
    if (outcome === "idle") await pause(Math.min(pollMs, newestMs), signal);
    else if (failures > 0) await restAfterFailures(failures, signal);
  }
}

async function enrol({ db, partner, chainIds, now, logger }: Work): Promise<void> {
  if (!(await haveCollectionsReached(db, 0n))) return;
  const enrolled = await enrolCollections(db, partner.name, chainIds, now());
  if (enrolled > 0)
    logger.info(`${partner.name} is asked for listings of ${enrolled} contracts more`);
}

/** Faults of ours are told with their cause, and tried again like those of a partner. */
async function tryStep(
  { partner, logger, signal }: Work,
  step: () => Promise<StepOutcome>,
): Promise<StepOutcome | "fault"> {
  try {
    return await step();
  } catch (error) {
    if (!signal.aborted)
      logger.error({ err: error }, `listings of ${partner.name} are not taken in`);
    return "fault";
  }
}

/** Said when it changes, not each time. Returns how often it failed in a row. */
function tellChange(
  logger: Logger,
  name: string,
  outcome: StepOutcome | "fault",
  failures: number,
): number {
  if (outcome === "idle" || outcome === "done") {
    if (failures > 0) logger.info(`listings of ${name} are taken in again`);
    return 0;
  }
  if (failures === 0 && outcome !== "fault") {
    logger.warn(`listings of ${name} are not taken in, trying again: ${outcome.message}`);
  }
  return failures + 1;
}

/** The first entry that is left out for a reason is told with its path; all are counted. */
function tellOnce(logger: Logger, name: string): OnSkipped {
  const told = new Set<string>();
  return (skipped) => {
    for (const { reason, path, standsFor } of skipped) {
      if (told.has(reason)) continue;
      told.add(reason);
      logger.info({ reason, path, standsFor }, `a listing of ${name} is left out`);
    }
  };
}
