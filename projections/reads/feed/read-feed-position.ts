import { sql } from "kysely";
import type { Database } from "../../database.ts";

/** Projections in which callers look up what an event names. */
const lookupProjections = ["ownership", "sales", "activity", "listings", "bids"];

/** The position that all of them have reached; 0 before they exist. */
export async function readFeedPosition(db: Database): Promise<bigint> {
  const { rows } = await sql<{ position: bigint | null }>`
    select case when count(*) = ${lookupProjections.length} then min(position) end as position
    from engine.checkpoint where projection = any (${lookupProjections}::text[])`.execute(db);
  return rows[0]?.position ?? 0n;
}
