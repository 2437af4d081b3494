import { sql } from "kysely";
import type { Database } from "../../database.ts";

/** Projections in which callers look up what an event tells. */
const toldBy = ["ownership", "sales", "activity", "listings", "bids"];

/** How far in the log all of them stand; 0 before they are made. */
export async function readToldPosition(db: Database): Promise<bigint> {
  const { rows } = await sql<{ position: bigint | null }>`
    select case when count(*) = ${toldBy.length} then min(position) end as position
    from engine.checkpoint where projection = any (${toldBy}::text[])`.execute(db);
  return rows[0]?.position ?? 0n;
}

/** The position of the log's last fact. */
export async function readLogHead(db: Database): Promise<bigint> {
  const { rows } = await sql<{ position: bigint }>`select position from log.head`.execute(db);
  return rows[0]?.position ?? 0n;
}
