import { type RawBuilder, sql } from "kysely";
import type { Address, Hex } from "viem";
import type { Window } from "../engine/projection.ts";
import type { Database } from "../log/database.ts";
import { kindList, kindLiteral } from "../log/fact-kinds.ts";
import { bytea, byteaArray } from "../log/sql-values.ts";
import { isOpen } from "./read-orders.ts";

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

const recheckColumns = sql`
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
    select ${recheckColumns}
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
    select ${recheckColumns}
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

/** A token with an open listing, and its maker. */
export type ListedToken = {
  contract: Address;
  tokenId: bigint;
  standard: 721 | 1155;
  maker: Address;
  /** Of the listing. */
  position: bigint;
};

/** Listings of a chain, except of the contracts whose transfers are indexed (lower case). */
type UnindexedBook = { chainId: number; indexed: readonly Address[] };

const listedTokenColumns = sql`
  k.address as contract, o.token_id as "tokenId", o.standard, o.maker, o.position`;

const isUnindexed = ({ chainId, indexed }: UnindexedBook): RawBuilder<unknown> => sql`
  k.chain_id = ${chainId} and k.address <> all (${byteaArray(indexed)})`;

/** The contracts with open listings. */
export async function readListedContracts(db: Database, book: UnindexedBook): Promise<Address[]> {
  const { rows } = await sql<{ contract: Address }>`
    select k.address as contract
    from (select distinct contract_id from listings.count where chain_id = ${book.chainId} and status in ('active', 'inactive')) c
    join log.contract k using (contract_id)
    where ${isUnindexed(book)} order by k.address`.execute(db);
  return rows.map(({ contract }) => contract);
}

/** Open listings in the order of their positions, after one. */
export async function readListedTokens(
  db: Database,
  book: UnindexedBook,
  after: bigint | null,
  limit: number,
): Promise<ListedToken[]> {
  const { rows } = await sql<ListedToken>`
    select ${listedTokenColumns} from log.contract k join listings.listing o using (contract_id)
    where ${isUnindexed(book)} and ${isOpen} and o.position > ${after ?? 0n}
    order by o.position limit ${limit}`.execute(db);
  return rows;
}

/** Open listings of these tokens. */
export async function readListedTokensAmong(
  db: Database,
  book: UnindexedBook,
  tokens: readonly { contract: Address; tokenId: bigint }[],
): Promise<ListedToken[]> {
  if (tokens.length === 0) return [];
  const rowsOf = tokens.map(({ contract, tokenId }) => ({
    address: contract.slice(2),
    token_id: tokenId.toString(),
  }));
  const { rows } = await sql<ListedToken>`
    select ${listedTokenColumns}
    from (select distinct decode(address, 'hex') as address, token_id
          from jsonb_to_recordset(${JSON.stringify(rowsOf)}::jsonb) as row (address text, token_id numeric)) t
    join log.contract k on k.address = t.address
    join listings.listing o on o.contract_id = k.contract_id and o.token_id = t.token_id
    where ${isUnindexed(book)} and ${isOpen}`.execute(db);
  return rows;
}

/** Listings that a window of the log adds. */
export async function readAddedTokens(
  db: Database,
  book: UnindexedBook,
  { after, upTo }: Window,
): Promise<ListedToken[]> {
  const { rows } = await sql<ListedToken>`
    select ${listedTokenColumns}
    from (
      select f.contract_id, f.token_id, f.from_address as maker, f.position,
             case f.payload #>> '{terms,standard}' when 'erc721' then 721 else 1155 end as standard
      from log.fact f
      where f.position > ${after} and f.position <= ${upTo}
        and f.kind in ${kindList("order_submitted", "partner_listing_seen")} and f.token_id is not null
        and f.payload #>> '{terms,side}' is distinct from 'bid'
    ) o
    join log.contract k using (contract_id) where ${isUnindexed(book)}`.execute(db);
  return rows;
}

type Bidder = { maker: Address };

/** Accounts with open bids on a chain, in ascending order after one. */
export async function readBidders(
  db: Database,
  chainId: number,
  after: Address | null,
  limit: number,
): Promise<Address[]> {
  const next = (condition: RawBuilder<unknown>) => sql`
    select o.maker from bids.bid o where o.chain_id = ${chainId} and ${isOpen} and ${condition}
    order by o.maker limit 1`;
  const isAfter = after === null ? sql`true` : sql`o.maker > decode(${after.slice(2)}, 'hex')`;
  // A loose index scan: an account may have thousands of bids.
  const { rows } = await sql<Bidder>`
    with recursive bidder as (
      (${next(isAfter)})
      union all
      select (${next(sql`o.maker > b.maker`)}) from bidder b where b.maker is not null
    )
    select maker from bidder where maker is not null limit ${limit}`.execute(db);
  return rows.map(({ maker }) => maker);
}

/** Those of `accounts` (lower case) that have open bids on a chain. */
export async function readBiddersAmong(
  db: Database,
  chainId: number,
  accounts: readonly Address[],
): Promise<Address[]> {
  if (accounts.length === 0) return [];
  const { rows } = await sql<Bidder>`
    select account as maker from unnest(${byteaArray(accounts)}) account
    where exists (select from bids.bid o where o.maker = account and o.chain_id = ${chainId} and ${isOpen})`.execute(
    db,
  );
  return rows.map(({ maker }) => maker);
}

/** Accounts whose bids on a chain were submitted in a window of the log. */
export async function readNewBidders(
  db: Database,
  chainId: number,
  { after, upTo }: Window,
): Promise<Address[]> {
  const { rows } = await sql<Bidder>`
    select distinct f.from_address as maker from log.fact f join log.contract k using (contract_id)
    where f.position > ${after} and f.position <= ${upTo} and f.kind = ${kindLiteral("order_submitted")}
      and f.payload #>> '{terms,side}' = 'bid' and k.chain_id = ${chainId}`.execute(db);
  return rows.map(({ maker }) => maker);
}
