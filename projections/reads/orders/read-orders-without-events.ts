import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "#projections/log/database.ts";
import { kindLiteral } from "#projections/log/fact-kinds.ts";
import { bytea } from "#projections/log/sql-values.ts";

/** An order that a contract signed (ERC-1271), and its sort key. */
export type ContractSignedOrder = { orderHash: Hex; position: bigint };

/** Our open orders whose maker is a contract, which may revoke its signature without an event; oldest first. */
export async function readContractSignedOrders(
  db: Database,
  chainId: number,
  after: ContractSignedOrder | null,
  limit: number,
): Promise<ContractSignedOrder[]> {
  const ofTable = (table: string) => sql`
    (select order_hash, position from ${sql.table(table)}
     where chain_id = ${chainId} and is_contract_signed and status in ('active', 'inactive')
       and position > ${after?.position ?? 0n}
     order by position limit ${limit})`;
  const { rows } = await sql<ContractSignedOrder>`
    select order_hash as "orderHash", position
    from (${ofTable("listings.listing")} union all ${ofTable("bids.bid")}) o
    order by position limit ${limit}`.execute(db);
  return rows;
}

/** A listing, and its sort key: listings are read contract by contract. */
export type ListingToRecheck = {
  orderHash: Hex;
  contractId: number;
  status: string;
  unitPriceWei: bigint;
  position: bigint;
};

const columns = sql`
  l.order_hash as "orderHash", l.contract_id as "contractId", l.status, l.unit_price_wei as "unitPriceWei", l.position`;

/**
 * Listings of contracts that have ever refused a transfer by the conduit, except those inactive for another reason.
 * Contract by contract, after a listing.
 */
export async function readPossiblyRestrictedListings(
  db: Database,
  chainId: number,
  after: ListingToRecheck | null,
  limit: number,
): Promise<ListingToRecheck[]> {
  const isReading = sql`f.kind = ${kindLiteral("transfer_read")}`;
  const from = after?.contractId ?? 0;
  const ifSameContract = (value: unknown, otherwise: unknown, type: string) =>
    sql`case when c.contract_id = ${from} then ${value} else ${otherwise} end::${sql.raw(type)}`;
  // A loose index scan: a contract may have a million such readings.
  const { rows } = await sql<ListingToRecheck>`
    with recursive restricting as (
      (select f.contract_id from log.fact f where ${isReading} and f.contract_id >= ${from}
       order by f.contract_id limit 1)
      union all
      select (select f.contract_id from log.fact f where ${isReading} and f.contract_id > r.contract_id
              order by f.contract_id limit 1)
      from restricting r where r.contract_id is not null
    )
    select ${columns}
    from restricting c cross join lateral (
      select * from listings.listing l
      where l.contract_id = c.contract_id and l.chain_id = ${chainId} and l.status in ('active', 'inactive') and l.is_conduit_known
        and (l.reason is null or l.reason in ('superseded', 'transfer_restricted'))
        and (l.status, l.unit_price_wei, l.position) > (
          ${ifSameContract(after?.status ?? "", "", "text")}, ${ifSameContract(after?.unitPriceWei ?? -1n, -1n, "numeric")},
          ${ifSameContract(after?.position ?? 0n, 0n, "bigint")})
      order by l.status, l.unit_price_wei, l.position limit ${limit}
    ) l
    limit ${limit}`.execute(db);
  return rows;
}

/** The cheapest buyable listing of each contract, as a sample of its listings. Contract by contract, after a listing. */
export async function readCheapestListings(
  db: Database,
  chainId: number,
  after: ListingToRecheck | null,
  limit: number,
): Promise<ListingToRecheck[]> {
  const { rows } = await sql<ListingToRecheck>`
    select ${columns}
    from (
      select distinct contract_id from listings.count
      where chain_id = ${chainId} and contract_id > ${after?.contractId ?? 0} and status = 'active'
      order by contract_id
    ) c
    cross join lateral (
      select * from listings.listing l
      where l.contract_id = c.contract_id and l.status = 'active' and l.is_buyable and l.is_conduit_known
      order by l.unit_price_wei, l.position limit 1
    ) l
    limit ${limit}`.execute(db);
  return rows;
}

/** A listing of a token that is approved alone, and its sort key. */
export type TokenApprovedAlone = { orderHash: Hex; contractId: number; tokenId: bigint };

/**
 * Open listings of ERC-721 tokens of which the conduit's approval was ever read for the token alone, except those inactive
 * for another reason than it. Token by token, after a listing.
 */
export async function readListingsApprovedAlone(
  db: Database,
  chainId: number,
  after: TokenApprovedAlone | null,
  limit: number,
): Promise<TokenApprovedAlone[]> {
  const { rows } = await sql<TokenApprovedAlone>`
    select l.order_hash as "orderHash", l.contract_id as "contractId", l.token_id as "tokenId"
    from (
      select distinct f.contract_id, f.token_id from log.fact f
      where f.kind = ${kindLiteral("token_approval_read")}
        and (f.contract_id, f.token_id) >= (${after?.contractId ?? 0}, ${after?.tokenId ?? 0n})
      order by f.contract_id, f.token_id
    ) told
    cross join lateral (
      select * from listings.listing l
      where l.contract_id = told.contract_id and l.token_id = told.token_id and l.chain_id = ${chainId}
        and l.status in ('active', 'inactive') and l.is_conduit_known
        and (l.reason is null or l.reason in ('superseded', 'not_approved'))
        and (l.contract_id, l.token_id, l.order_hash)
          > (${after?.contractId ?? 0}, ${after?.tokenId ?? 0n}, ${bytea(after?.orderHash ?? "0x")})
      order by l.order_hash limit ${limit}
    ) l
    order by l.contract_id, l.token_id, l.order_hash limit ${limit}`.execute(db);
  return rows;
}
