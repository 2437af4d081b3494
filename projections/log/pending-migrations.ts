import { sql } from "kysely";
import type { Chain } from "#chains/chain.ts";
import { chains } from "#chains/index.ts";
import type { Database } from "../database.ts";

/** In their order. The first one makes everything that `schema.sql` and `functions.sql` say. */
const migrationNames = ["0001-start", "0002-chain-ordinals", "0003-jobs"] as const;

export type MigrationName = (typeof migrationNames)[number];

/** Names of the migrations that the database still lacks. Those of later releases, which it may have, are left alone. */
export async function lackingMigrations(db: Database): Promise<MigrationName[]> {
  const { rows } = await sql<{ exists: boolean }>`
    select to_regclass('ops.migration') is not null as exists`.execute(db);
  if (rows[0]?.exists !== true) return [...migrationNames];
  const applied = await sql<{ name: string }>`select name from ops.migration`.execute(db);
  const names = new Set(applied.rows.map(({ name }) => name));
  return migrationNames.filter((name) => !names.has(name));
}

/** The same, and chains whose ordinals it does not store yet: what a start or `op migrate` does. Throws as `lackingChains`. */
export async function pendingMigrations(db: Database): Promise<string[]> {
  const names = await lackingMigrations(db);
  if (names.length > 0) return names;
  return (await lackingChains(db)).map(({ id }) => `chain-${id}`);
}

/** Chains whose ordinals are not stored. Throws where ids of stored blocks are made of other ordinals than the list's. */
export async function lackingChains(
  db: Database,
  list: readonly Chain[] = chains,
): Promise<Chain[]> {
  const { rows } = await sql<{ id: number; ordinal: number }>`
    select chain_id as id, ordinal from log.chain`.execute(db);
  for (const stored of rows) {
    const differing = list.find(
      ({ id, ordinal }) => (id === stored.id) !== (ordinal === stored.ordinal),
    );
    if (differing !== undefined)
      throw new Error(
        `chains/ gives chain ${differing.id} the ordinal ${differing.ordinal}, the database has ${stored.ordinal} for chain ${stored.id}: ordinals are permanent`,
      );
  }
  return list.filter(({ id }) => !rows.some((stored) => stored.id === id));
}
