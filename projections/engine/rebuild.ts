import { sql } from "kysely";
import type { Database } from "../database.ts";
import { createTarget, dropTarget, readCheckpoints } from "./checkpoint.ts";
import type { Projection } from "./projection.ts";
import { tick } from "./tick.ts";

/** Facts a rebuilding window holds: larger than a live one, since nobody reads the tables yet. */
const REBUILD_FACTS = 100_000;

export type RebuildProgress = { projection: string; position: bigint; head: bigint };

/** Makes the tables of new projections; rebuilds those whose version or parameters differ from what is stored. */
export async function prepareProjections(
  db: Database,
  projections: readonly Projection[],
  onProgress: (progress: RebuildProgress) => void,
): Promise<void> {
  for (const projection of projections) {
    const stored = (await readCheckpoints(db)).get(projection.name);
    if (stored === undefined) {
      await db.transaction().execute(async (session) => {
        await createTarget(session, { projection, schema: projection.name });
      });
    } else if (
      stored.version !== projection.version ||
      stored.parameters !== (projection.parameters ?? "")
    ) {
      await rebuild(db, projection, onProgress);
    }
  }
}

/**
 * Derives a projection anew from the log beside the serving tables and swaps the two in one transaction.
 * A rebuild that was killed is taken up where it stood.
 */
export async function rebuild(
  db: Database,
  projection: Projection,
  onProgress: (progress: RebuildProgress) => void,
): Promise<void> {
  const target = { projection, schema: `${projection.name}_next` };
  const begun = (await readCheckpoints(db)).get(target.schema);
  if (
    begun?.version !== projection.version ||
    begun.parameters !== (projection.parameters ?? "")
  ) {
    await db.transaction().execute(async (session) => {
      await dropTarget(session, target.schema);
      await createTarget(session, target);
    });
  }
  for (;;) {
    const moved = await tick(db, [target], REBUILD_FACTS);
    if (moved.outcome === "fenced") throw new Error(`${projection.name} is being rebuilt elsewhere`);
    if (moved.outcome === "idle") break;
    onProgress({ projection: projection.name, position: moved.window.upTo, head: moved.head });
  }
  await swap(db, projection);
}

/** Renames the schemas; readers wait for the commit and then see the new tables. The old ones go. */
async function swap(db: Database, { name }: Projection): Promise<void> {
  await db.transaction().execute(async (session) => {
    const next = `${name}_next`;
    await sql`
      select from engine.checkpoint where projection in (${name}, ${next}) order by projection for update
    `.execute(session);
    await sql`drop schema if exists ${sql.id(name)} cascade`.execute(session);
    await sql`alter schema ${sql.id(next)} rename to ${sql.id(name)}`.execute(session);
    await sql`delete from engine.checkpoint where projection = ${name}`.execute(session);
    await sql`update engine.checkpoint set projection = ${name} where projection = ${next}`.execute(session);
  });
}
