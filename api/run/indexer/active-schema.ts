import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import type { Database } from "../../../projections/database.ts";

const pollMs = 1_000;

/** Sets the schema that the recorder reads from. */
export async function activateSchema(db: Database, chainId: number, schema: string): Promise<void> {
  await sql`
    insert into ops.indexer (chain_id, ponder_schema, started_at) values (${chainId}, ${schema}, now())
    on conflict (chain_id) do update set ponder_schema = excluded.ponder_schema, started_at = now()
  `.execute(db);
}

/** Sets it unless one is set: the first backfill is recorded while it runs. */
export async function activateFirstSchema(
  db: Database,
  chainId: number,
  schema: string,
): Promise<void> {
  await sql`
    insert into ops.indexer (chain_id, ponder_schema, started_at) values (${chainId}, ${schema}, now())
    on conflict (chain_id) do nothing
  `.execute(db);
}

/** How many times an operator has had the chain indexed again. */
export async function readGeneration(db: Database, chainId: number): Promise<number> {
  const { rows } = await sql<{ generation: number }>`
    select generation from ops.indexer where chain_id = ${chainId}`.execute(db);
  return rows[0]?.generation ?? 0;
}

/** Makes the indexer and the recorder use another schema; the recorder waits until it has tables. */
export async function startGeneration(
  db: Database,
  chainId: number,
  { schema, generation }: { schema: string; generation: number },
): Promise<void> {
  await sql`
    insert into ops.indexer (chain_id, ponder_schema, started_at, generation)
    values (${chainId}, ${schema}, now(), ${generation})
    on conflict (chain_id) do update
      set ponder_schema = excluded.ponder_schema, started_at = now(), generation = excluded.generation
  `.execute(db);
}

/** Resolves with a reason when the chain is to be indexed into another schema. */
export async function waitForNewGeneration(
  db: Database,
  chainId: number,
  generation: number,
  signal: AbortSignal,
): Promise<string> {
  while (!signal.aborted) {
    await delay(pollMs, undefined, { signal }).catch(() => {});
    const current = await readGeneration(db, chainId).catch(() => generation);
    if (current !== generation) return "an operator started a reindex or a recovery";
  }
  return "stopped";
}
