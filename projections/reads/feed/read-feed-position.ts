import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import { schemaOf } from "#projections/log/versions.ts";
import type { FeedSource } from "./read-feed.ts";
import { readFinalPosition } from "./read-finality.ts";
import { readPartEnd } from "./read-parts.ts";

/** Projections in which callers look up what an event names. */
const lookupProjections = [...["ownership", "sales", "activity", "listings", "bids"], "metadata"];

/**
 * The position up to which events are handed out: where those projections are, and with `final` delivery what is final.
 * A transaction's facts that were appended together are handed out together, as events depend on all of them.
 */
export async function readFeedPosition({ db, chainIds, delivery }: FeedSource): Promise<bigint> {
  const position = await readPartEnd(db, await readProjectedPosition(db));
  return delivery === "final" ? await readFinalPosition(db, chainIds, position) : position;
}

/** The position that all of them have reached; 0 before they exist. */
async function readProjectedPosition(db: Database): Promise<bigint> {
  const { rows } = await sql<{ position: bigint | null }>`
    select case when count(*) = ${lookupProjections.length} then min(position) end as position
    from engine.checkpoint where projection = any (${lookupProjections.map(schemaOf)}::text[])`.execute(
    db,
  );
  return rows[0]?.position ?? 0n;
}
