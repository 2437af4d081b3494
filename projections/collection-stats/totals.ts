import { sql } from "kysely";
import type { Session } from "../database.ts";

type Count = { chain_id: number; verified: boolean; rows: bigint };

/** How many touched families there are. */
export async function countTouched(session: Session, schema: string): Promise<Count[]> {
  const { rows } = await sql<Count>`
    select f.chain_id, f.verified, count(*) as rows
    from pg_temp.touched_family t join ${sql.table(`${schema}.family`)} f using (collection_id)
    group by f.chain_id, f.verified`.execute(session);
  return rows;
}

/** Moves how many families there are by what came and went. */
export async function moveTotals(
  session: Session,
  schema: string,
  before: readonly Count[],
  after: readonly Count[],
): Promise<void> {
  const moved = new Map<string, Count>();
  for (const [counts, sign] of [[before, -1n] as const, [after, 1n] as const]) {
    for (const { chain_id, verified, rows } of counts) {
      const key = `${chain_id} ${verified}`;
      const sum = (moved.get(key)?.rows ?? 0n) + sign * rows;
      moved.set(key, { chain_id, verified, rows: sum });
    }
  }
  const total = sql.table(`${schema}.total`);
  for (const { chain_id, verified, rows } of moved.values()) {
    if (rows === 0n) continue;
    await sql`
      insert into ${total} as t values (${chain_id}, ${verified}, ${rows})
      on conflict (chain_id, verified) do update set rows = t.rows + excluded.rows`.execute(
      session,
    );
    await sql`delete from ${total} where rows = 0`.execute(session);
  }
}
