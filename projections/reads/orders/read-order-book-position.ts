import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import { schemaOf } from "#projections/log/versions.ts";

/** The position up to which both listings and bids are projected; 0 before their tables exist. */
export async function readOrderBookPosition(db: Database): Promise<bigint> {
  const { rows } = await sql<{ position: bigint | null }>`
    select case when count(*) = 2 then min(position) end as position
    from engine.checkpoint where projection in (${schemaOf("listings")}, ${schemaOf("bids")})`.execute(
    db,
  );
  return rows[0]?.position ?? 0n;
}
