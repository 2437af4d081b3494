import { sql } from "kysely";
import type { Address } from "viem";
import type { Database } from "../database.ts";

/** A creator fee the operator configured; paid where the contract tells none itself. */
export type ConfiguredRoyalty = { recipient: Address; bps: number };

/** Of those of the chain's `contracts` (lower case) whose collection has one. */
export async function readConfiguredRoyalties(
  db: Database,
  chainId: number,
  contracts: readonly Address[],
): Promise<Map<Address, ConfiguredRoyalty>> {
  if (contracts.length === 0) return new Map();
  const addresses = [...new Set(contracts)].map((address) => address.slice(2));
  const { rows } = await sql<ConfiguredRoyalty & { contract: Address }>`
    select c.address as contract, l.royalty_recipient as recipient, l.royalty_bps as bps
    from unnest(${addresses}::text[]) asked
    join collections.claim c on c.chain_id = ${chainId} and c.address = decode(asked, 'hex')
    join collections.collection l on l.collection_id = c.collection_id
    where l.royalty_bps is not null`.execute(db);
  return new Map(rows.map(({ contract, recipient, bps }) => [contract, { recipient, bps }]));
}
