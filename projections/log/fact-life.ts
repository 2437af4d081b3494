import { sql } from "kysely";
import type { Database } from "../database.ts";
import { projectionIn } from "../versions.ts";
import { kindList } from "./fact-kind-sql.ts";

/** What happened to a fact after it was appended. */
export type FactLife = {
  /** Retractions and readoptions of its block. */
  blockStates: { position: bigint; kind: number; recordedAt: Date | null }[];
  /** Quarantines and releases of it. */
  quarantine: {
    position: bigint;
    kind: number;
    projection: string;
    error: string | null;
    recordedAt: Date;
  }[];
  /** Projections whose tables were derived without it. */
  excludedBy: string[];
};

export async function readFactLife(db: Database, position: bigint): Promise<FactLife> {
  const [blockStates, quarantine, excluded] = await Promise.all([
    sql<FactLife["blockStates"][number]>`
      select s.position, s.kind, s.recorded_at as "recordedAt"
      from log.fact f join log.fact s on s.block_id = f.block_id
      where f.position = ${position} and s.kind in ${kindList("block_retracted", "block_readopted")}
      order by s.position`.execute(db),
    sql<FactLife["quarantine"][number]>`
      select position, kind, payload ->> 'projection' as projection, payload ->> 'error' as error,
             recorded_at as "recordedAt"
      from log.fact
      where kind in ${kindList("fact_quarantined", "fact_released")} and amount = ${position}
      order by position`.execute(db),
    sql<{ projection: string }>`
      select projection from engine.checkpoint where ${position} = any (excluded_positions)
      order by projection`.execute(db),
  ]);
  return {
    blockStates: blockStates.rows,
    quarantine: quarantine.rows,
    excludedBy: excluded.rows.map(({ projection }) => projectionIn(projection)),
  };
}
