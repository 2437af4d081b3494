import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import type { Database } from "../../../projections/database.ts";

const pollMs = 1_000;

/** Names the schema that the recorder shall read from. */
export async function activateSchema(db: Database, chainId: number, schema: string): Promise<void> {
  await sql`
    insert into ops.indexer (chain_id, ponder_schema, started_at) values (${chainId}, ${schema}, now())
    on conflict (chain_id) do update set ponder_schema = excluded.ponder_schema, started_at = now()
  `.execute(db);
}

/** Names it unless the recorder has one: the first backfill is recorded while it goes on. */
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

/** How often the chain was indexed anew by an operator's word. */
export async function readGeneration(db: Database, chainId: number): Promise<number> {
  const { rows } = await sql<{ generation: number }>`
    select generation from ops.indexer where chain_id = ${chainId}`.execute(db);
  return rows[0]?.generation ?? 0;
}

/** Has the chain indexed into another schema; the recorder waits until that has tables. */
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

/** Settles, in words, when the chain is to be indexed into another schema. */
export async function waitForNewGeneration(
  db: Database,
  chainId: number,
  generation: number,
  signal: AbortSignal,
): Promise<string> {
  while (!signal.aborted) {
    await delay(pollMs, undefined, { signal }).catch(() => {});
    const current = await readGeneration(db, chainId).catch(() => generation);
    if (current !== generation) return "it is indexed anew by an operator's command";
  }
  return "over";
}
