import { sql } from "kysely";
import { projectionVersions } from "../../../projections/all.ts";
import { isMissingRelation } from "../../../projections/database-failure.ts";
import { readCheckpoints } from "../../../projections/engine/checkpoint.ts";
import { schemaOf } from "../../../projections/versions.ts";
import { type ExplainFailure, TablesNotReady } from "../http/failures/unready-tables.ts";
import type { Cells } from "../http/reads/cells.ts";

/** The versions are looked up where something is missing alone: no other read costs more for it. */
export function openFailureReader({ all }: Cells): ExplainFailure {
  return async (error) => {
    if (!isMissingRelation(error)) return error;
    const message = error instanceof Error ? error.message : "";
    if ((await areReady(all())) && !(await wasCreatedSince(all(), message))) return error;
    return new TablesNotReady(message, { cause: error });
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

/** Whether the missing relation that an error names exists now: it was created between the read and this check. */
async function wasCreatedSince(cells: ReturnType<Cells["all"]>, message: string): Promise<boolean> {
  const relation = /^relation "(.+)" does not exist$/.exec(message)?.[1];
  if (relation === undefined) return false;
  for (const { reads } of cells) {
    const { rows } = await sql<{ exists: boolean }>`
      select to_regclass(${relation}) is not null as exists`.execute(reads.primary.dbOf("data"));
    if (rows[0]?.exists !== true) return false;
  }
  return true;
}
