import type { Database } from "#projections/log/database.ts";
import { isCurrent, readCheckpoints } from "#projections/engine/checkpoint.ts";
import type { Projection } from "#projections/engine/projection.ts";
import { schemaOf } from "#projections/log/versions.ts";

/**
 * Whether projections have been derived by this version and from these parameters. During an upgrade the tables of the
 * version before are served, which may lack columns.
 */
export async function areDerived(
  db: Database,
  projections: readonly Projection[],
): Promise<boolean> {
  const checkpoints = await readCheckpoints(db);
  return projections.every((projection) => {
    const checkpoint = checkpoints.get(schemaOf(projection.name));
    return checkpoint !== undefined && isCurrent(checkpoint, projection);
  });
}
