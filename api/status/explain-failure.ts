import { sql } from "kysely";
import { projectionVersions } from "#projections/all.ts";
import { readCheckpoints } from "#projections/engine/checkpoint.ts";
import type { Database } from "#projections/log/database.ts";
import { isMissingRelation } from "#projections/log/database-failure.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { type ExplainFailure, TablesNotReady } from "../http/failures.ts";
import type { PositionedReads } from "../http/reads/positioned-reads.ts";

/** The versions are looked up where something is missing alone: no other read costs more for it. */
export function openFailureReader({ primary }: Pick<PositionedReads, "primary">): ExplainFailure {
  const db = primary.dbOf("data");
  return async (error) => {
    if (!isMissingRelation(error)) return error;
    const message = error instanceof Error ? error.message : "";
    if ((await areReady(db)) && !(await wasCreatedSince(db, message))) return error;
    return new TablesNotReady(message, { cause: error });
  };
}

/** Whether the tables of every projection are of this release's version. */
async function areReady(db: Database): Promise<boolean> {
  const checkpoints = await readCheckpoints(db);
  return [...projectionVersions].every(
    ([name, version]) => checkpoints.get(schemaOf(name))?.version === version,
  );
}

/** Whether the missing relation that an error names exists now: it was created between the read and this check. */
async function wasCreatedSince(db: Database, message: string): Promise<boolean> {
  const relation = /^relation "(.+)" does not exist$/.exec(message)?.[1];
  if (relation === undefined) return false;
  const { rows } = await sql<{ exists: boolean }>`
    select to_regclass(${relation}) is not null as exists`.execute(db);
  return rows[0]?.exists === true;
}
