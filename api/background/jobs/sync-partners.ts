import type { Logger } from "pino";
import type { ChainId } from "../../../chains/index.ts";
import type { Database } from "../../../projections/database.ts";
import type { FeeLimits } from "../../../projections/domain/creator-fee-review.ts";
import { enrollCollections } from "../../../projections/partner-sync/due-collection.ts";
import { areCollectionsAtLeastAt } from "../../../projections/reads/collections/read-contracts-without-description.ts";
import { backOff, sleep } from "../log-signal/back-off.ts";
import type { Partner, SkippedEntry } from "../marketplaces/partner.ts";
import { runSyncStep, type StepOutcome, type SyncContext } from "../marketplaces/sync-step.ts";
import { runPartnerStream, type StreamLimits } from "./stream-partners.ts";

const idleMs = 2_000;
const addContractsMs = 30_000;

type PartnerSyncOptions = {
  db: Database;
  partner: Partner;
  /** The chains served. */
  chainIds: readonly ChainId[];
  /** Between two polls for a collection's new listings. */
  intervalMs: number;
  /** Beyond them creator fees wait for an operator. */
  feeLimits?: FeeLimits;
  now: () => Date;
  /** Overrides of the stream's limits. */
  streamLimits?: Partial<StreamLimits>;
  logger: Logger;
  signal: AbortSignal;
};

type OnSkipped = (skipped: readonly SkippedEntry[]) => void;

/** Records a partner's listings: by polling, and from its event stream where it has one. */
export async function runPartnerSync(options: PartnerSyncOptions): Promise<void> {
  const limits = options.streamLimits && { limits: options.streamLimits };
  const onSkipped = logReasonOnce(options.logger, options.partner.name);
  await Promise.all([
    runPolling(options, onSkipped),
    runPartnerStream({ ...options, ...limits, onSkipped }),
  ]);
}

/**
 * One collection at a time; every other step serves registered collections, which thousands of others would otherwise
 * delay. Backs off while the partner fails.
 */
async function runPolling(options: PartnerSyncOptions, onSkipped: OnSkipped): Promise<void> {
  const { db, partner, chainIds, intervalMs: pollNewestMs, now, logger, signal } = options;
  let addContractsAt = 0;
  let registeredFirst = false;
  let failures = 0;
  const onHeld: SyncContext["onHeld"] = (held) =>
    logger.error(
      { partner: partner.name, ...held, command: "op royalties list" },
      "creator fees wait for an operator",
    );
  while (!signal.aborted) {
    registeredFirst = !registeredFirst;
    const limits = options.feeLimits && { feeLimits: options.feeLimits };
    const turn = { db, partner, chainIds, pollMs: pollNewestMs, now, onSkipped, onHeld };
    const outcome = await tryStep(options, async () => {
      if (now().getTime() >= addContractsAt) {
        addContractsAt = now().getTime() + addContractsMs;
        await addNewContracts(options);
      }
      return await runSyncStep({ ...turn, ...limits, registeredFirst });
    });
    if (signal.aborted) return;
    failures = logChange(logger, partner.name, outcome, failures);
    if (outcome === "idle") await sleep(Math.min(idleMs, pollNewestMs), signal);
    else if (failures > 0) await backOff(failures, signal);
  }
}

async function addNewContracts({
  db,
  partner,
  chainIds,
  now,
  logger,
}: PartnerSyncOptions): Promise<void> {
  if (!(await areCollectionsAtLeastAt(db, 0n))) return;
  const added = await enrollCollections(db, partner.name, chainIds, now());
  if (added > 0)
    logger.debug({ partner: partner.name, contracts: added }, "partner sync contracts added");
}

/** Internal errors are logged with their cause and retried like failures of the partner. */
async function tryStep(
  { partner, logger, signal }: PartnerSyncOptions,
  step: () => Promise<StepOutcome>,
): Promise<StepOutcome | "fault"> {
  try {
    return await step();
  } catch (error) {
    if (!signal.aborted)
      logger.error({ err: error, partner: partner.name }, "partner sync failed, retrying");
    return "fault";
  }
}

/** Logs only changes. Returns the number of failures in a row. */
function logChange(
  logger: Logger,
  name: string,
  outcome: StepOutcome | "fault",
  failures: number,
): number {
  if (outcome === "idle" || outcome === "done") {
    if (failures > 0) logger.info({ partner: name }, "partner sync resumed");
    return 0;
  }
  if (failures === 0 && outcome !== "fault") {
    logger.warn({ partner: name, reason: outcome.message }, "partner sync failed, retrying");
  }
  return failures + 1;
}

/** Logs the first skipped entry of each reason with its path; all are counted. */
function logReasonOnce(logger: Logger, name: string): OnSkipped {
  const logged = new Set<string>();
  return (skipped) => {
    for (const { reason, path, concerns } of skipped) {
      if (logged.has(reason)) continue;
      logged.add(reason);
      logger.info({ partner: name, reason, path, concerns }, "partner listing skipped");
    }
  };
}
