import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import type { ChainId } from "../../../abis/deployments.ts";
import type { Database } from "../../../projections/database.ts";
import { bucketStart } from "../../../projections/domain/candles.ts";
import { floorSnapshotted, snapshotMs } from "../../../projections/facts/floor-snapshotted.ts";
import { appendObservations } from "../../../projections/log/append.ts";
import { readContractFloors } from "../../../projections/reads/collections/read-floors.ts";
import { readLastSnapshot } from "../../../projections/reads/floors/read.ts";

const retryMs = 1_000;

type Work = { db: Database; chainIds: readonly ChainId[]; logger: Logger; signal: AbortSignal };

/** Tells the log every five minutes, at full ones of UTC, what the cheapest listing of each contract costs. */
export async function keepFloors({ db, chainIds, logger, signal }: Work): Promise<void> {
  while (!signal.aborted) {
    const now = Date.now();
    const momentMs = bucketStart(now, snapshotMs);
    // Past the moment, not just before it: timers may fire early.
    let waitMs = momentMs + snapshotMs - now + 1;
    try {
      for (const chainId of chainIds) {
        if (!(await snapshotFloors(db, chainId, momentMs))) waitMs = retryMs;
      }
    } catch (error) {
      if (!signal.aborted) logger.error({ err: error }, "floors are not recorded, trying again");
      waitMs = retryMs;
    }
    await delay(waitMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Takes a chain's snapshot of a moment unless it was taken. False while the projections that know are not made. */
export async function snapshotFloors(
  db: Database,
  chainId: ChainId,
  momentMs: number,
): Promise<boolean> {
  const base = await readLastSnapshot(db, chainId);
  if (base === undefined) return false;
  if (base !== null && base.momentMs >= momentMs) return true;
  const floors = await readContractFloors(db, chainId, new Date(momentMs));
  if (floors === undefined) return false;
  await appendObservations(db, [floorSnapshotted({ chainId, momentMs, floors, base })]);
  return true;
}
