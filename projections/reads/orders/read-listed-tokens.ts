import { type RawBuilder, sql } from "kysely";
import type { Address } from "viem";
import type { Database } from "#projections/log/database.ts";
import type { Window } from "#projections/engine/projection.ts";
import { kindList } from "#projections/log/fact-kinds.ts";
import { isOpen } from "#projections/order-state/status-sql.ts";
import { byteaArray } from "#projections/log/sql-values.ts";

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

const columns = sql`
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
    select ${columns} from log.contract k join listings.listing o using (contract_id)
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
    select ${columns}
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
    select ${columns}
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
