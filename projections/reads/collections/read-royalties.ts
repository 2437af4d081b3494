import { type RawBuilder, sql } from "kysely";
import type { Address } from "viem";
import { partnerRoyalty } from "../../collections/creator-fees.ts";
import type { Database } from "../../database.ts";

/** A share of the price for a creator, as the operator configured it or as a partner requires it. */
export type RoyaltyShare = { recipient: Address; bps: number };

/** Of those of the chain's `contracts` (lower case) whose collection has one; paid where the contract tells none itself. */
export function readConfiguredRoyalties(
  db: Database,
  chainId: number,
  contracts: readonly Address[],
): Promise<Map<Address, RoyaltyShare>> {
  return readShares(
    db,
    contracts,
    sql`
    select c.address as contract, l.royalty_recipient as recipient, l.royalty_bps as bps
    from asked
    join collections.claim c on c.chain_id = ${chainId} and c.address = asked.address
    join collections.collection l on l.collection_id = c.collection_id
    where l.royalty_bps is not null`,
  );
}

/** Of those of the chain's `contracts` (lower case) for whose creators a partner requires something. */
export function readPartnerRoyalties(
  db: Database,
  chainId: number,
  contracts: readonly Address[],
): Promise<Map<Address, RoyaltyShare>> {
  return readShares(
    db,
    contracts,
    sql`
    select k.address as contract, due.recipient, due.bps
    from asked
    join log.contract k on k.chain_id = ${chainId} and k.address = asked.address
    cross join lateral (${partnerRoyalty(sql`k.contract_id`)}) due`,
  );
}

/** `shares` reads `asked`, the addresses. */
async function readShares(
  db: Database,
  contracts: readonly Address[],
  shares: RawBuilder<unknown>,
): Promise<Map<Address, RoyaltyShare>> {
  if (contracts.length === 0) return new Map();
  const addresses = [...new Set(contracts)].map((address) => address.slice(2));
  const { rows } = await sql<RoyaltyShare & { contract: Address }>`
    with asked as (select decode(digits, 'hex') as address from unnest(${addresses}::text[]) digits)
    ${shares}`.execute(db);
  return new Map(rows.map(({ contract, recipient, bps }) => [contract, { recipient, bps }]));
}
