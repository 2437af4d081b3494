import { sql } from "kysely";
import type { Database } from "../../database.ts";

/** How far in the log both books stand; 0 before they are made. */
export async function readBooksPosition(db: Database): Promise<bigint> {
  const { rows } = await sql<{ position: bigint | null }>`
    select case when count(*) = 2 then min(position) end as position
    from engine.checkpoint where projection in ('listings', 'bids')`.execute(db);
  return rows[0]?.position ?? 0n;
}
