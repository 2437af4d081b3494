import { projectionVersions } from "../../../projections/all.ts";
import { isMissingRelation } from "../../../projections/database-failure.ts";
import { readCheckpoints } from "../../../projections/engine/checkpoint.ts";
import { schemaOf } from "../../../projections/versions.ts";
import { type ExplainFailure, TablesNotReady } from "../http/failures/unready-tables.ts";
import type { Cells } from "../http/reads/cells.ts";

/** The versions are looked up where something is missing alone: no other read costs more for it. */
export function openFailureReader({ all }: Cells): ExplainFailure {
  return async (error) => {
    if (!isMissingRelation(error) || (await areReady(all()))) return error;
    return new TablesNotReady(error instanceof Error ? error.message : "", { cause: error });
  };
}

/** Whether the tables of every projection are of this release's version. */
async function areReady(cells: ReturnType<Cells["all"]>): Promise<boolean> {
  for (const { reads } of cells) {
    const checkpoints = await readCheckpoints(reads.primary.dbOf("data"));
    for (const [name, version] of projectionVersions)
      if (checkpoints.get(schemaOf(name))?.version !== version) return false;
  }
  return true;
}
