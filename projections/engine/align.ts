import type { Database } from "../log/database.ts";
import { advance } from "./advance.ts";
import { readCheckpoints, targetOf } from "./checkpoint.ts";
import { areAligned } from "./positions.ts";
import type { Projection } from "./projection.ts";

/**
 * Brings the tables that a projection reads to one position. Those that another release reads too are moved by its
 * projector as well, so they may differ again at once.
 */
export async function align(
  db: Database,
  reader: Projection,
  projections: readonly Projection[],
): Promise<void> {
  const targets = projections.filter(({ name }) => reader.reads?.includes(name)).map(targetOf);
  while (!areAligned(reader, await readCheckpoints(db))) await advance(db, targets);
}
