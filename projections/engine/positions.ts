import { schemaOf } from "../log/versions.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { Projection } from "./projection.ts";

/** Positions of the tables that a projection reads; 0 for those that do not exist. */
export function readPositions(
  { reads = [] }: Projection,
  checkpoints: ReadonlyMap<string, Checkpoint>,
): bigint[] {
  return reads.map((name) => checkpoints.get(schemaOf(name))?.position ?? 0n);
}

/** Whether all tables that a projection reads are at one position. */
export const areAligned = (
  projection: Projection,
  checkpoints: ReadonlyMap<string, Checkpoint>,
): boolean => new Set(readPositions(projection, checkpoints)).size <= 1;
