import { sql } from "kysely";
import type { Session } from "../log/database.ts";

type Count = { chain_id: number; verified: boolean; collections: bigint };

/** How many of the affected collections exist. */
export async function countAffected(session: Session, schema: string): Promise<Count[]> {
  const { rows } = await sql<Count>`
    select f.chain_id, f.verified, count(*) as collections
    from pg_temp.affected_collection t join ${sql.table(`${schema}.collection`)} f using (collection_id)
    group by f.chain_id, f.verified`.execute(session);
  return rows;
}

/** Updates the number of collections by how many were added and redelta. */
export async function updateCollectionCounts(
  session: Session,
  schema: string,
  before: readonly Count[],
  after: readonly Count[],
): Promise<void> {
  const delta = new Map<string, Count>();
  for (const [counts, sign] of [[before, -1n] as const, [after, 1n] as const]) {
    for (const { chain_id, verified, collections } of counts) {
      const key = `${chain_id} ${verified}`;
      const sum = (delta.get(key)?.collections ?? 0n) + sign * collections;
      delta.set(key, { chain_id, verified, collections: sum });
    }
  }
  const count = sql.table(`${schema}.collection_count`);
  for (const { chain_id, verified, collections } of delta.values()) {
    if (collections === 0n) continue;
    await sql`
      insert into ${count} as t values (${chain_id}, ${verified}, ${collections})
      on conflict (chain_id, verified) do update set collections = t.collections + excluded.collections`.execute(
      session,
    );
    await sql`delete from ${count} where collections = 0`.execute(session);
  }
}
