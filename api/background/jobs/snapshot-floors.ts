import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import type { ChainId } from "../../../abis/deployments.ts";
import type { Database } from "../../../projections/database.ts";
import { bucketStart } from "../../../projections/domain/candles.ts";
import { floorSnapshotted, snapshotMs } from "../../../projections/facts/floor-snapshotted.ts";
import { appendObservations } from "../../../projections/log/append.ts";
import { readContractFloors } from "../../../projections/reads/collections/read-contract-floors.ts";
import { readLastSnapshot } from "../../../projections/reads/floors/read-floors.ts";

const retryMs = 1_000;

type SnapshotOptions = {
  db: Database;
  chainIds: readonly ChainId[];
  logger: Logger;
  signal: AbortSignal;
};

/** Appends the floor price of each contract every five minutes, aligned to UTC. */
export async function runFloorSnapshots({
  db,
  chainIds,
  logger,
  signal,
}: SnapshotOptions): Promise<void> {
  while (!signal.aborted) {
    const now = Date.now();
    const takenAtMs = bucketStart(now, snapshotMs);
    // One millisecond after the boundary: timers may fire early.
    let waitMs = takenAtMs + snapshotMs - now + 1;
    try {
      for (const chainId of chainIds) {
        if (!(await snapshotFloors(db, chainId, takenAtMs))) waitMs = retryMs;
      }
    } catch (error) {
      if (!signal.aborted) logger.error({ err: error }, "floor snapshot failed, retrying");
      waitMs = retryMs;
    }
    await delay(waitMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Appends a chain's snapshot for a time unless it exists. False while the projections it reads are not derived. */
export async function snapshotFloors(
  db: Database,
  chainId: ChainId,
  takenAtMs: number,
): Promise<boolean> {
  const base = await readLastSnapshot(db, chainId);
  if (base === undefined) return false;
  if (base !== null && base.takenAtMs >= takenAtMs) return true;
  const floors = await readContractFloors(db, chainId, new Date(takenAtMs));
  if (floors === undefined) return false;
  await appendObservations(db, [floorSnapshotted({ chainId, takenAtMs, floors, base })]);
  return true;
}
