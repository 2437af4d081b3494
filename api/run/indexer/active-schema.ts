import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import type { IndexerId } from "#projections/log/sources.ts";
import { sleep } from "#jobs/runner/back-off.ts";

const pollMs = 2_000;

/** Sets the schema that the recorder reads from. */
export async function activateSchema(
  db: Database,
  { chainId, indexer }: IndexerId,
  schema: string,
): Promise<void> {
  await sql`
    insert into ops.indexer (chain_id, name, ponder_schema, started_at)
    values (${chainId}, ${indexer}, ${schema}, now())
    on conflict (chain_id, name) do update set ponder_schema = excluded.ponder_schema, started_at = now()
  `.execute(db);
}

/** Sets it unless one is set: the first backfill is recorded while it runs. */
export async function activateFirstSchema(
  db: Database,
  { chainId, indexer }: IndexerId,
  schema: string,
): Promise<void> {
  await sql`
    insert into ops.indexer (chain_id, name, ponder_schema, started_at)
    values (${chainId}, ${indexer}, ${schema}, now())
    on conflict (chain_id, name) do nothing
  `.execute(db);
}

/** How many times an operator has had the indexer's sources indexed again. */
export async function readGeneration(
  db: Database,
  { chainId, indexer }: IndexerId,
): Promise<number> {
  const { rows } = await sql<{ generation: number }>`
    select generation from ops.indexer where chain_id = ${chainId} and name = ${indexer}`.execute(
    db,
  );
  return rows[0]?.generation ?? 0;
}

/** Makes the indexer and the recorder use another schema; the recorder waits until it has tables. */
export async function startGeneration(
  db: Database,
  { chainId, indexer }: IndexerId,
  { schema, generation }: { schema: string; generation: number },
): Promise<void> {
  await sql`
    insert into ops.indexer (chain_id, name, ponder_schema, started_at, generation)
    values (${chainId}, ${indexer}, ${schema}, now(), ${generation})
    on conflict (chain_id, name) do update
      set ponder_schema = excluded.ponder_schema, started_at = now(), generation = excluded.generation
  `.execute(db);
}

/** Resolves with a reason when the indexer's sources are to be indexed into another schema. */
export async function waitForNewGeneration(
  db: Database,
  id: IndexerId,
  generation: number,
  signal: AbortSignal,
): Promise<string> {
  while (!signal.aborted) {
    await sleep(pollMs, signal);
    const current = await readGeneration(db, id).catch(() => generation);
    if (current !== generation) return "an operator started a reindex or a recovery";
  }
  return "stopped";
}
