import { sql } from "kysely";
import type { Projection } from "#projections/engine/projection.ts";
import {
  lockOfSchema,
  projectionLock,
  shadowSchemas,
  withoutShadow,
} from "#projections/engine/shadow-schema.ts";
import type { Database } from "#projections/log/database.ts";
import { createLock, isLockHeld, takeLock } from "#projections/log/named-lock.ts";
import { readPaused } from "#projections/log/operators.ts";
import { readPonderSchema } from "#projections/log/recording/reconcile.ts";
import { isServed, isVersionOf, versions } from "#projections/log/versions.ts";
import { readIndexers } from "../ponder/indexers.ts";
import { ponderLock, readGeneration, schemaName } from "../ponder/ponder-schema.ts";
import type { InspectedConfig } from "./inspected-config.ts";

/** An unused schema, and the name of the lock that a process working in it holds. */
export type StaleSchema = { schema: string; bytes: bigint; why: string; lock: string };

/**
 * Schemas that can be dropped without loss: Ponder's that are not recorded, those that rebuilds replaced, and those of
 * other releases' versions that no projector follows.
 */
export async function findStaleSchemas(
  db: Database,
  config: InspectedConfig,
  projections: readonly Projection[],
): Promise<StaleSchema[]> {
  const { rows } = await sql<{ schema: string; bytes: bigint }>`
    select n.nspname as schema, coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint as bytes
    from pg_namespace n
    left join pg_class c on c.relnamespace = n.oid and c.relkind in ('r', 'm')
    group by n.nspname order by n.nspname`.execute(db);
  const used = await readUsedSchemas(db, config);
  const replaced = new Map(projections.flatMap(({ name }) => reasonsFor(name)));
  const followed = await readFollowedSchemas(db);
  return rows.flatMap(({ schema, bytes }) => {
    if (/^ponder_\d+_[0-9a-f]{8}$/.test(schema) && !used.has(schema)) {
      const why = "indexed under an earlier configuration";
      return [{ schema, bytes, why, lock: ponderLock(schema) }];
    }
    const reason = replaced.get(schema) ?? reasonOfOther(schema, followed);
    return reason === undefined ? [] : [{ schema, bytes, ...reason }];
  });
}

/** Schemas that are recorded, and those that this configuration indexes into; not those of removed sources alone. */
async function readUsedSchemas(
  db: Database,
  { chains, curated }: InspectedConfig,
): Promise<Set<string>> {
  const used = new Set<string>();
  for (const chain of chains) {
    const { chainId } = chain;
    for (const { name: indexer, sources } of await readIndexers(db, chain, curated)) {
      used.add(schemaName(sources, await readGeneration(db, { chainId, indexer })));
      used.add((await readPonderSchema(db, { chainId, indexer }))?.schema ?? "");
    }
  }
  const configured = chains.map(({ chainId }) => chainId);
  const { rows } = await sql<{ schema: string }>`
    select ponder_schema as schema from ops.indexer
    where chain_id <> all (${configured}::integer[])`.execute(db);
  for (const { schema } of rows) used.add(schema);
  return used;
}

/** Milliseconds after which a checkpoint that is behind the log and was not moved has no projector. */
const abandonedMs = 60_000;

/** Schemas with a checkpoint that some projector may still move: all of them while projecting is paused. */
async function readFollowedSchemas(db: Database): Promise<ReadonlySet<string>> {
  const isPaused = (await readPaused(db)).includes("projecting");
  const { rows } = await sql<{ schema: string }>`
    select c.projection as schema from engine.checkpoint c cross join log.head h
    where ${isPaused} or c.position >= h.position
       or c.updated_at > now() - ${abandonedMs} * interval '1 millisecond'`.execute(db);
  return new Set(rows.map(({ schema }) => schema));
}

/** Undefined for schemas of this release's versions, of versions that are followed, and of no projection. */
function reasonOfOther(schema: string, followed: ReadonlySet<string>) {
  const version = withoutShadow(schema);
  const isOther = Object.keys(versions).some((name) => isVersionOf(version, name));
  if (!isOther || isServed(version) || followed.has(version)) return undefined;
  return { why: "of another version, which no projector follows", lock: lockOfSchema(version) };
}

function reasonsFor(name: string): [string, { why: string; lock: string }][] {
  const { previous, replaced, verify } = shadowSchemas(name);
  const lock = projectionLock(name);
  return [
    [previous, { why: `kept for op rollback ${name}`, lock }],
    [replaced, { why: `replaced by op rollback ${name}`, lock }],
    [verify, { why: "left by a killed op verify", lock }],
  ];
}

/** Drops a schema unless it is in use. Returns the reason when it was kept. */
export async function dropStaleSchema(
  db: Database,
  { schema, lock }: StaleSchema,
): Promise<string | null> {
  await createLock((statement) => sql.raw(statement).execute(db), lock);
  try {
    return await db.transaction().execute(async (session) => {
      await sql`set local lock_timeout = '2s'`.execute(session);
      try {
        await takeLock((statement) => sql.raw(statement).execute(session), lock, "nowait");
      } catch (error) {
        if (isLockHeld(error)) return "a process works in it";
        throw error;
      }
      await sql`drop schema if exists ${sql.id(schema)} cascade`.execute(session);
      await sql`delete from engine.checkpoint where projection = ${schema}`.execute(session);
      return null;
    });
  } catch (error) {
    if (isLockHeld(error)) return "an open transaction has read it";
    throw error;
  }
}
