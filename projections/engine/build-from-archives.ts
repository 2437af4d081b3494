import { sql } from "kysely";
import type { Database } from "../database.ts";
import { type Archive, readDetached } from "../log/archives/archives.ts";
import { assertWhole, readArchivedFacts } from "../log/archives/check-archive.ts";
import { ofKinds, storeLines } from "../log/archives/store-lines.ts";
import { createTarget, readCheckpoints, type Target } from "./checkpoint.ts";
import { logFacts } from "./fact-window.ts";
import { tick } from "./tick.ts";

/** Facts of a window: nobody reads the tables yet. */
const WINDOW_FACTS = 100_000;

/** A detached partition's facts, in the session, and all facts up to its end. */
const archived = sql`pg_temp.archived_fact`;
const withArchived = sql`pg_temp.fact_with_archived`;

type Options = {
  readonly limit?: bigint | undefined;
  readonly onPosition: (position: bigint) => void;
};

/** The archives that a target is to be derived from; none: all that its rows depend on is in the log. */
export async function readNeededArchives(
  db: Database,
  { projection }: Target,
): Promise<readonly Archive[]> {
  return projection.readsArchives === true ? await readDetached(db) : [];
}

/**
 * Derives a target up to the end of the last of some archives, from its checkpoint or the log's start, in windows. Facts of
 * a detached partition are in a temporary table while it is derived, one partition at a time. Throws, with nothing changed,
 * where a file is missing or damaged.
 */
export async function buildFromArchives(
  db: Database,
  target: Target,
  archives: readonly Archive[],
  options: Options,
): Promise<void> {
  const position = await readPosition(db, target);
  const remaining = archives.filter(({ first, last }) => {
    const isWanted = options.limit === undefined || first <= options.limit;
    return isWanted && (position === undefined || last > position);
  });
  for (const archive of remaining) await assertWhole(archive);
  if (position === undefined)
    await db.transaction().execute((session) => createTarget(session, target));
  for (const archive of remaining) {
    await applyUpTo(db, target, archive.first - 1n, options);
    await db.connection().execute(async (connection) => {
      await load(connection, target, archive);
      try {
        await applyUpTo(connection, target, archive.last, { ...options, facts: withArchived });
      } finally {
        await unload(connection);
      }
    });
  }
}

async function readPosition(db: Database, { schema }: Target): Promise<bigint | undefined> {
  return (await readCheckpoints(db)).get(schema)?.position;
}

async function applyUpTo(
  db: Database,
  target: Target,
  end: bigint,
  { limit, onPosition, facts }: Options & { readonly facts?: typeof withArchived },
): Promise<void> {
  const upTo = limit !== undefined && limit < end ? limit : end;
  for (;;) {
    const moved = await tick(db, [target], WINDOW_FACTS, upTo, facts);
    if (moved.outcome === "idle") return;
    if (moved.outcome === "moved") onPosition(moved.window.upTo);
  }
}

/**
 * Facts of the kinds that the projection handles, and of the states of blocks. Nothing of it outlives the connection. The
 * indexes are those that facts are looked up by.
 */
async function load(
  connection: Database,
  { projection: { handles } }: Target,
  archive: Archive,
): Promise<void> {
  const kinds = handles && ([...handles, "block_retracted", "block_readopted"] as const);
  await unload(connection);
  await sql`create temporary table archived_fact (like log.fact including defaults)`.execute(
    connection,
  );
  await storeLines(connection, archived, ofKinds(readArchivedFacts(archive), kinds));
  await sql`create unique index on ${archived} (position)`.execute(connection);
  await sql`create index on ${archived} (block_id, log_index)`.execute(connection);
  await sql`create index on ${archived} (order_hash) where order_hash is not null`.execute(
    connection,
  );
  await sql`create index on ${archived} (contract_id, token_id)`.execute(connection);
  await sql`analyze ${archived}`.execute(connection);
  await sql`
    create temporary view fact_with_archived as
    select * from ${logFacts} where position < ${sql.lit(archive.first)} union all select * from ${archived}`.execute(
    connection,
  );
}

async function unload(connection: Database): Promise<void> {
  await sql`drop view if exists ${withArchived}`.execute(connection);
  await sql`drop table if exists ${archived}`.execute(connection);
}
