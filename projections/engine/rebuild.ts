import { sql } from "kysely";
import type { Database } from "../database.ts";
import { createTarget, dropTarget, isOf, readCheckpoints, type Target } from "./checkpoint.ts";
import type { Projection } from "./projection.ts";
import { tick } from "./tick.ts";

/** Facts a rebuilding window holds: larger than a live one, since nobody reads the tables yet. */
const REBUILD_FACTS = 100_000;

export type RebuildProgress = { projection: string; position: bigint; head: bigint };

/**
 * Makes the tables of new projections; rebuilds those whose version or parameters differ from what is stored. None is
 * brought beyond those before it in the list: it may read their tables, and would miss what they have not derived yet.
 */
export async function prepareProjections(
  db: Database,
  projections: readonly Projection[],
  onProgress: (progress: RebuildProgress) => void,
): Promise<void> {
  let limit: bigint | undefined;
  for (const projection of projections) {
    const target = { projection, schema: projection.name };
    const stored = (await readCheckpoints(db)).get(projection.name);
    if (stored === undefined) {
      await db.transaction().execute((session) => createTarget(session, target));
      await catchUp(db, target, limit, onProgress);
    } else if (!isOf(stored, projection)) {
      await rebuild(db, projection, onProgress, limit);
    }
    const position = (await readCheckpoints(db)).get(projection.name)?.position ?? 0n;
    limit = limit === undefined || position < limit ? position : limit;
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
  limit?: bigint,
): Promise<void> {
  const target = { projection, schema: `${projection.name}_next` };
  const begun = (await readCheckpoints(db)).get(target.schema);
  if (begun === undefined || !isOf(begun, projection)) {
    await db.transaction().execute(async (session) => {
      await dropTarget(session, target.schema);
      await createTarget(session, target);
    });
  }
  await catchUp(db, target, limit, onProgress);
  await swap(db, projection);
}

async function catchUp(
  db: Database,
  target: Target,
  limit: bigint | undefined,
  onProgress: (progress: RebuildProgress) => void,
): Promise<void> {
  for (;;) {
    const moved = await tick(db, [target], REBUILD_FACTS, limit);
    if (moved.outcome === "fenced") throw new Error(`${target.schema} is being rebuilt elsewhere`);
    if (moved.outcome === "idle") return;
    const { window, head } = moved;
    onProgress({ projection: target.projection.name, position: window.upTo, head });
  }
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
    await sql`update engine.checkpoint set projection = ${name} where projection = ${next}`.execute(
      session,
    );
  });
}
