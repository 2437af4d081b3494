import { sql } from "kysely";
import type { Address } from "viem";
import type { Database } from "#projections/log/database.ts";
import type { ContractFloors } from "#projections/facts/floor-snapshotted.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { hasEnded } from "../orders/order-columns.ts";

/** Price of each contract's cheapest active listing at `now`; undefined before the projection's tables exist. */
export async function readContractFloors(
  db: Database,
  chainId: number,
  now: Date,
): Promise<ContractFloors | undefined> {
  const { rows: checkpoints } = await sql`
    select from engine.checkpoint where projection = ${schemaOf("collection_stats")}`.execute(db);
  if (checkpoints.length === 0) return undefined;
  const { rows } = await sql<{ contract: Address; wei: bigint }>`
    select k.address as contract, o.unit_price_wei as wei
    from collection_stats.contract c
    join log.contract k using (contract_id)
    cross join lateral (
      select o.unit_price_wei from listings.listing o
      where o.contract_id = c.contract_id and o.status = 'active' and not ${hasEnded(now)}
      order by o.unit_price_wei, o.position limit 1
    ) o
    where c.chain_id = ${chainId} and c.listed > 0`.execute(db);
  return new Map(rows.map(({ contract, wei }) => [contract, wei]));
}
