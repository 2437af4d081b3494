import { deriveInBulk } from "#projections/engine/bulk.ts";
import { dropTarget, readCheckpoints } from "#projections/engine/checkpoint.ts";
import type { Projection } from "#projections/engine/projection.ts";
import { compareSchemas } from "#projections/engine/verify.ts";
import type { Database } from "#projections/log/database.ts";
import { schemaOf } from "#projections/log/versions.ts";

/** Where a projection's rows differ from those derived in bulk to the same position, in a schema that is dropped again. */
export async function differenceOfRebuild(db: Database, projection: Projection) {
  const stored = schemaOf(projection.name);
  const copy = { projection, schema: `${stored}_bulk` };
  const position = (await readCheckpoints(db)).get(stored)?.position;
  try {
    await deriveInBulk(db, copy, undefined, { limit: position });
    return await compareSchemas(db, { stored, derived: copy.schema }, { maxExamples: 3 });
  } finally {
    await dropTarget(db, copy.schema);
  }
}
