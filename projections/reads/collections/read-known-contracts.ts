import { sql } from "kysely";
import type { Address } from "viem";
import type { Database } from "../../database.ts";

/** Of the chain's `contracts` (lower case) those that are known as NFT contracts, with the standard their transfers tell. */
export async function readKnownContracts(
  db: Database,
  chainId: number,
  contracts: readonly Address[],
): Promise<Map<Address, "erc721" | "erc1155" | null>> {
  const addresses = [...new Set(contracts)].map((address) => address.slice(2));
  const { rows } = await sql<{ contract: Address; standard: number | null }>`
    select k.address as contract, m.standard
    from log.contract k join collections.member m using (contract_id)
    where k.chain_id = ${chainId}
      and k.address = any (array(select decode(asked, 'hex') from unnest(${addresses}::text[]) asked))`.execute(
    db,
  );
  return new Map(rows.map(({ contract, standard }) => [contract, nameOf(standard)]));
}

function nameOf(standard: number | null): "erc721" | "erc1155" | null {
  if (standard === null) return null;
  return standard === 721 ? "erc721" : "erc1155";
}
