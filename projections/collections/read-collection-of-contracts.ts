import { sql } from "kysely";
import type { Database } from "../log/database.ts";

/** The collections that contracts belong to, by the contracts' ids. */
export async function readCollectionOfContracts(
  db: Database,
  contractIds: readonly number[],
): Promise<Map<number, number>> {
  const { rows } = await sql<{ contractId: number; collectionId: number }>`
    select contract_id as "contractId", collection_id as "collectionId"
    from collection_stats.contract where contract_id = any (${contractIds}::int[])`.execute(db);
  return new Map(rows.map(({ contractId, collectionId }) => [contractId, collectionId]));
}
