import { sql } from "kysely";
import type { Session } from "../database.ts";
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
