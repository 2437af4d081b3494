import { sql } from "kysely";
import type { Address } from "viem";
import type { Session } from "#projections/log/database.ts";
import { bytea } from "#projections/log/sql-values.ts";
import { schemaOf } from "#projections/log/versions.ts";

/** Contracts of a chain's collections without an effective description, by address, after `after`. */
export async function readContractsWithoutDescription(
  session: Session,
  chainId: number,
  after: Address | null,
  limit: number,
): Promise<Address[]> {
  const afterBytes = bytea(after ?? "0x");
  const { rows } = await sql<{ address: Address }>`
    select k.address
    from collections.contract m join log.contract k on k.contract_id = m.contract_id
    where not m.is_described and k.chain_id = ${chainId} and k.address > ${afterBytes}
    union
    select c.address
    from collections.registry_contract c
    where c.chain_id = ${chainId} and c.address > ${afterBytes}
      and not exists (
        select from log.contract k join collections.description d on d.contract_id = k.contract_id
        where k.chain_id = c.chain_id and k.address = c.address
      )
    order by address
    limit ${limit}`.execute(session);
  return rows.map((row) => row.address);
}

/** Whether the projection has reached `position`; false before its tables exist. */
export async function areCollectionsAtLeastAt(
  session: Session,
  position: bigint,
): Promise<boolean> {
  const { rows } = await sql`
    select from engine.checkpoint where projection = ${schemaOf("collections")} and position >= ${position}
  `.execute(session);
  return rows.length > 0;
}
