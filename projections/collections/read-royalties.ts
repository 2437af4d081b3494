import { type RawBuilder, sql } from "kysely";
import type { Address } from "viem";
import type { Database } from "../log/database.ts";
import { byteaArray } from "../log/sql-values.ts";

/** SQL for a lateral join: the creator fee of a partner in force for a contract; no row where it requires none. */
export function partnerRoyalty(contractId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select latest.recipient, latest.bps
    from (
      select recipient, bps from collections.creator_fee
      where contract_id = ${contractId} and counts order by position desc limit 1
    ) latest
    where latest.recipient is not null`;
}

/** SQL for a lateral join: what an operator decided, also none (0 to the zero address); no row where nothing is decided. */
export function operatorRoyalty(contractId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select coalesce(latest.recipient, decode(repeat('00', 20), 'hex')) as recipient, latest.bps
    from (
      select recipient, bps from collections.stated_royalty
      where contract_id = ${contractId} and source = 'operator' order by position desc limit 1
    ) latest
    where latest.bps is not null`;
}

/** SQL for a lateral join: the royalty that the contract states; no row where it states none. */
export function contractRoyalty(contractId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select latest.recipient, latest.bps
    from (
      select recipient, bps from collections.stated_royalty
      where contract_id = ${contractId} and source = 'erc2981' order by block_id desc, position desc limit 1
    ) latest
    where latest.recipient is not null and latest.bps > 0`;
}

/** A creator's share of the price. */
export type RoyaltyShare = { recipient: Address; bps: number };

/** Configured royalties of the collections of the chain's `contracts` (lower case); used where a contract reports none. */
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
    from requested
    join collections.registry_contract c on c.chain_id = ${chainId} and c.address = requested.address
    join collections.collection l on l.collection_id = c.collection_id
    where l.royalty_bps is not null`,
  );
}

/** Creator fees of partners in force for the chain's `contracts` (lower case). */
export const readPartnerRoyalties = sharesOf(partnerRoyalty);

/** What operators decided for the chain's `contracts` (lower case); 0 bps: no royalty. */
export const readOperatorRoyalties = sharesOf(operatorRoyalty);

/** What the chain's `contracts` (lower case) stated by ERC-2981 when they were last read. */
export const readContractRoyalties = sharesOf(contractRoyalty);

function sharesOf(royalty: (contractId: RawBuilder<unknown>) => RawBuilder<unknown>) {
  return (db: Database, chainId: number, contracts: readonly Address[]) =>
    readShares(
      db,
      contracts,
      sql`
      select k.address as contract, due.recipient, due.bps
      from requested
      join log.contract k on k.chain_id = ${chainId} and k.address = requested.address
      cross join lateral (${royalty(sql`k.contract_id`)}) due`,
    );
}

/** `shares` selects from the CTE `requested`, the addresses. */
async function readShares(
  db: Database,
  contracts: readonly Address[],
  shares: RawBuilder<unknown>,
): Promise<Map<Address, RoyaltyShare>> {
  if (contracts.length === 0) return new Map();
  const { rows } = await sql<RoyaltyShare & { contract: Address }>`
    with requested as (select unnest(${byteaArray([...new Set(contracts)])}) as address)
    ${shares}`.execute(db);
  return new Map(rows.map(({ contract, recipient, bps }) => [contract, { recipient, bps }]));
}
