import { sql } from "kysely";
import type { Address } from "viem";
import type { Session } from "#projections/log/database.ts";
import { factKind } from "#projections/log/fact-kinds.ts";

type CuratedEntry = { chainId: number; primary: Address; position: bigint; payload: object };

/** The latest entry of the curated file for each collection, from the log itself: the tables may lag behind it. */
export async function readCuratedEntries(session: Session): Promise<CuratedEntry[]> {
  const { rows } = await sql<CuratedEntry>`
    select distinct on (f.contract_id) k.chain_id as "chainId", k.address as primary, f.position, f.payload
    from log.fact f join log.contract k on k.contract_id = f.contract_id
    where f.kind = ${sql.lit(factKind.collection_registered)} and f.log_index is null and f.block_id is null
      and f.payload ->> 'source' = 'curated'
    order by f.contract_id, f.position desc`.execute(session);
  return rows;
}
