import type { Logger } from "pino";
import type { ChainId } from "#chains/index.ts";
import { floorSnapshotted, snapshotMs } from "#projections/collections/floors.ts";
import { readContractFloors, readLastSnapshot } from "#projections/collections/read-floors.ts";
import { bucketStart } from "#projections/domain/candles.ts";
import { appendObservations } from "#projections/log/append.ts";
import type { Database } from "#projections/log/database.ts";
import { type ClockGuard, openClockGuard } from "../recording/clock-ticks.ts";
import type { Job } from "../runner/job.ts";

const retryMs = 1_000;
/** Between two looks for contracts with a first floor, and the number of contracts up to which there are such looks. */
const firstFloorMs = 5_000;
const smallMarket = 100;

type SnapshotOptions = {
  db: Database;
  chainIds: readonly ChainId[];
  logger: Logger;
  /** Unix milliseconds. */
  readTime?: () => number;
};

/**
 * Appends the floor price of each contract every five minutes, aligned to UTC, and in a small market also as soon as a
 * contract without a floor has one: a new installation does not wait for its first candles.
 */
export function floorSnapshots(options: SnapshotOptions): Job {
  const mayAppend = openClockGuard(options.db, options.logger);
  return {
    name: "floor snapshots",
    reads: ["collection_stats", "floors", "listings"],
    retry: { firstMs: retryMs, mostMs: retryMs },
    run: () => snapshotAll(options, mayAppend),
  };
}

/** Milliseconds until the next look. */
async function snapshotAll(
  { db, chainIds, readTime = () => Date.now() }: SnapshotOptions,
  mayAppend: ClockGuard,
): Promise<number> {
  const now = readTime();
  if (!(await mayAppend(now))) return retryMs;
  const takenAtMs = bucketStart(now, snapshotMs);
  // One millisecond after the boundary: timers may fire early.
  let waitMs = takenAtMs + snapshotMs - now + 1;
  for (const chainId of chainIds) {
    if (!(await snapshotFloors(db, chainId, takenAtMs))) waitMs = retryMs;
    else if (!(await snapshotFirstFloors(db, chainId, now)))
      waitMs = Math.min(waitMs, firstFloorMs);
  }
  return waitMs;
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

/** In a small market appends a snapshot if a contract has a floor that had none in the last one. False: look again soon. */
export async function snapshotFirstFloors(
  db: Database,
  chainId: ChainId,
  nowMs: number,
): Promise<boolean> {
  const base = await readLastSnapshot(db, chainId);
  if (base === undefined || base === null) return false;
  if (base.floors.size >= smallMarket) return true;
  const takenAtMs = bucketStart(nowMs, 1_000);
  if (takenAtMs <= base.takenAtMs) return false;
  const floors = await readContractFloors(db, chainId, new Date(takenAtMs));
  if (floors === undefined || [...floors.keys()].every((key) => base.floors.has(key))) return false;
  await appendObservations(db, [floorSnapshotted({ chainId, takenAtMs, floors, base })]);
  return false;
}
