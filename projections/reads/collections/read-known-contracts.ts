import { sql } from "kysely";
import type { Address } from "viem";
import type { Database } from "#projections/log/database.ts";
import { byteaArray } from "#projections/log/sql-values.ts";

/** Those of the chain's `contracts` (lower case) that are known NFT contracts, with the standard of their transfers. */
export async function readKnownContracts(
  db: Database,
  chainId: number,
  contracts: readonly Address[],
): Promise<Map<Address, "erc721" | "erc1155" | null>> {
  const { rows } = await sql<{ contract: Address; standard: number | null }>`
    select k.address as contract, m.standard
    from log.contract k join collections.contract m using (contract_id)
    where k.chain_id = ${chainId}
      and k.address = any (${byteaArray([...new Set(contracts)])})`.execute(db);
  return new Map(rows.map(({ contract, standard }) => [contract, nameOf(standard)]));
}

function nameOf(standard: number | null): "erc721" | "erc1155" | null {
  if (standard === null) return null;
  return standard === 721 ? "erc721" : "erc1155";
}
