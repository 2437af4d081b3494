import { sql } from "kysely";
import type { Session } from "#projections/log/database.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { copiedProjections } from "./capture/data-sets.ts";

/** The position that all projections which the views read have reached. */
export async function readPosition(session: Session): Promise<bigint> {
  const { rows } = await sql<{ position: bigint }>`
    select coalesce(min(position), 0) as position from engine.checkpoint
    where projection = any (${copiedProjections.map(schemaOf)}::text[])`.execute(session);
  return rows[0]?.position ?? 0n;
}
