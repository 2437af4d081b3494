import { sql } from "kysely";
import type { Session } from "#projections/log/database.ts";

/** Those of the contracts that were ever sold from, on any exchange. */
export async function readTradedContracts(
  session: Session,
  chainId: number,
  contractIds: readonly number[],
): Promise<Set<number>> {
  const { rows } = await sql<{ contractId: number }>`
    select contract_id as "contractId" from sales.total
    where chain_id = ${chainId} and contract_id = any (${contractIds}::int[]) and sales > 0`.execute(
    session,
  );
  return new Set(rows.map(({ contractId }) => contractId));
}
