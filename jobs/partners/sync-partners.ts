import type { Logger } from "pino";
import type { ChainId } from "#chains/index.ts";
import { areCollectionsAtLeastAt } from "#projections/collections/read-undescribed-contracts.ts";
import type { FeeLimits } from "#projections/domain/royalty.ts";
import type { Database } from "#projections/log/database.ts";
import { enrollCollections } from "#projections/partners/sync-pass.ts";
import type { Job } from "../runner/job.ts";
import { type Partner, PartnerFailed, type SkippedEntry } from "./partner.ts";
import { partnerStream, type StreamLimits } from "./stream-partners.ts";
import { runSyncStep, type SyncContext } from "./sync-step.ts";

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
};

type OnSkipped = (skipped: readonly SkippedEntry[]) => void;

/** Records a partner's listings: by polling, and from its event stream where it has one. */
export function partnerSync(options: PartnerSyncOptions): Job[] {
  const limits = options.streamLimits && { limits: options.streamLimits };
  const onSkipped = logReasonOnce(options.logger, options.partner.name);
  return [polling(options, onSkipped), ...partnerStream({ ...options, ...limits, onSkipped })];
}

/** One collection at a time; every other step serves registered collections, which thousands of others would otherwise delay. */
function polling(options: PartnerSyncOptions, onSkipped: OnSkipped): Job {
  const { db, partner, chainIds, intervalMs: pollNewestMs, now, logger } = options;
  let addContractsAt = 0;
  let registeredFirst = false;
  const onHeld: SyncContext["onHeld"] = (held) =>
    logger.error(
      { partner: partner.name, ...held, command: "op royalties list" },
      "creator fees wait for an operator",
    );
  const limits = options.feeLimits && { feeLimits: options.feeLimits };
  const shared = { db, partner, chainIds, pollMs: pollNewestMs, now, onSkipped, onHeld, ...limits };
  return {
    name: "partner listings",
    about: { partner: partner.name },
    every: Math.min(idleMs, pollNewestMs),
    reads: ["collections", "listings"],
    async run() {
      registeredFirst = !registeredFirst;
      if (now().getTime() >= addContractsAt) {
        addContractsAt = now().getTime() + addContractsMs;
        await addNewContracts(options);
      }
      const outcome = await runSyncStep({ ...shared, registeredFirst });
      if (outcome === "idle") return undefined;
      if (outcome === "done") return "more";
      throw new PartnerFailed(outcome);
    },
  };
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
