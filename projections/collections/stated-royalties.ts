import { type RawBuilder, sql } from "kysely";
import type { Session } from "../log/database.ts";
import { isObservation } from "../engine/fact-window.ts";
import type { FactWindow } from "../engine/projection.ts";

const isStated = isObservation("royalty_stated");

/** Stores the effective royalties that contracts and operators state. Returns the contracts with changes. */
export async function applyStatedRoyalties(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<number[]> {
  const stated = sql.table(`${schema}.stated_royalty`);
  const { rows } = await sql<{ contract_id: number }>`
    with removed as (
      delete from ${stated} s using ${window.changes} c
      where ${isStated} and c.weight < 0 and s.position = c.position
      returning s.contract_id
    ), added as (
      insert into ${stated}
      select c.position, c.contract_id, c.payload ->> 'source', c.block_id,
             decode(substr(c.payload ->> 'recipient', 3), 'hex'), (c.payload ->> 'bps')::integer
      from ${window.changes} c
      where ${isStated} and c.weight > 0
      returning contract_id
    )
    select contract_id from removed union select contract_id from added`.execute(session);
  return rows.map((row) => row.contract_id);
}

/** Of contracts that are known already: nothing else of them, or of their collections, depends on it. */
export async function updateRoyaltyStates(
  session: Session,
  schema: string,
  contracts: readonly number[],
): Promise<void> {
  if (contracts.length === 0) return;
  await sql`
    update ${sql.table(`${schema}.contract`)} m set has_royalty = told.has_royalty
    from unnest(${contracts}::int[]) given (contract_id)
    cross join lateral (select ${hasRoyalty(schema, sql`given.contract_id`)} as has_royalty) told
    where m.contract_id = given.contract_id and m.has_royalty <> told.has_royalty`.execute(session);
}

/** SQL: whether a reading of a contract's own royalty is effective. */
export function hasRoyalty(schema: string, contractId: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from ${sql.table(`${schema}.stated_royalty`)} told
    where told.contract_id = ${contractId} and told.source = 'erc2981'
  )`;
}
