import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import { chainIds } from "#chains/index.ts";
import { endedSince } from "#projections/orders/read-orders.ts";
import type { ListingMarketplace } from "../domain/marketplaces.ts";
import type { OrderStatus } from "../domain/orders/order-status.ts";
import { tokensAt } from "../engine/token-ids.ts";
import type { Database } from "../log/database.ts";
import { kindList, kindLiteral } from "../log/fact-kinds.ts";
import { bytea } from "../log/sql-values.ts";
import { beginsWith, searchWords } from "./words.ts";

/** A collection that a search finds. */
export type CollectionMatch = {
  collectionId: number;
  chainId: number;
  address: Hex;
  slug: string;
  name: string | null;
  symbol: string | null;
  standard: 721 | 1155 | null;
  verified: boolean;
  holders: bigint;
  sales: bigint;
  image: string | null;
  contractIds: number[];
  /** A verified collection of the same name, or one that looks like it, when this one is not verified. */
  sameNameAs: { chainId: number; address: Hex; slug: string; name: string | null } | null;
};

/** Rows of an index range that are looked at: a prefix may have any number of them. */
const maxCollectionCandidates = 500;

/** By the beginnings of words; several words must all be found. Verified collections first, then exact names. */
export function readCollectionsByText(
  db: Database,
  chainIds: readonly number[],
  text: string,
  limit: number,
): Promise<CollectionMatch[]> {
  return readCollectionMatches(
    db,
    sql`asked as (
    select words, array_to_string(words, '') as folded,
           (select one from unnest(words) one order by length(one) desc limit 1) as longest
    from (select ${searchWords(sql`${text}::text`)} as words) said
  ), found as (${byWords(chainIds)})`,
    sql`exists (select from collections.word w where w.collection_id = c.collection_id and w.word = asked.folded)`,
    limit,
  );
}

/** Of the contracts whose addresses, 20 bytes, are between two. */
export function readCollectionsByAddress(
  db: Database,
  chainIds: readonly number[],
  [from, to]: readonly [Hex, Hex],
  limit: number,
): Promise<CollectionMatch[]> {
  return readCollectionMatches(
    db,
    sql`asked as (select), found as (
      select m.collection_id from unnest(${chainIds}::int[]) chain (chain_id)
      cross join lateral (
        select k.contract_id from log.contract k
        where k.chain_id = chain.chain_id and k.address between ${bytea(from)} and ${bytea(to)}
        order by k.address limit ${maxCollectionCandidates}
      ) k join collections.contract m using (contract_id)
    )`,
    sql`false`,
    limit,
  );
}

function byWords(chainIds: readonly number[]): RawBuilder<unknown> {
  const begin = (prefix: RawBuilder<unknown>) => sql`
    select w.collection_id from collections.word w
    where w.chain_id = chain.chain_id and w.verified = state.verified and ${beginsWith(sql`w.word`, prefix)}
    order by w.word limit ${maxCollectionCandidates}`;
  return sql`
    select near.collection_id from asked
    cross join unnest(${chainIds}::int[]) chain (chain_id) cross join (values (true), (false)) state (verified)
    cross join lateral (
      (${begin(sql`asked.folded`)})
      union all
      select one.collection_id from (${begin(sql`asked.longest`)}) one
      where cardinality(asked.words) > 1 and not exists (
        select from unnest(asked.words) other (word) where not exists (
          select from collections.word w
          where w.collection_id = one.collection_id and ${beginsWith(sql`w.word`, sql`other.word`)}
        )
      )
    ) near
    where asked.folded <> ''`;
}

/** `ctes`: `asked`, one row, and `found` (collection_id), with repetitions. `isExact`: first among the verified ones. */
async function readCollectionMatches(
  db: Database,
  ctes: RawBuilder<unknown>,
  isExact: RawBuilder<unknown>,
  limit: number,
): Promise<CollectionMatch[]> {
  const { rows } = await sql<CollectionMatch>`
    with ${ctes}, page as materialized (
      select c.*, coalesce(s.sales_all, 0) as sales, coalesce(h.holders, 0) as holders,
             row_number() over (order by c.verified desc, (${isExact}) desc, s.sales_all desc nulls last,
                                         h.holders desc nulls last, c.collection_id) as place
      from asked cross join (select distinct collection_id from found) one
      join collections.collection c using (collection_id)
      left join collection_stats.collection s using (collection_id)
      left join collection_stats.holder_stats h using (collection_id)
      order by place limit ${limit}
    )
    select c.collection_id as "collectionId", c.chain_id as "chainId", k.address, c.slug, c.name, c.symbol, c.standard,
           c.verified, c.holders, c.sales, md.image,
           array(
             select m.contract_id from collections.contract m where m.collection_id = c.collection_id order by 1
           ) as "contractIds",
           case when not c.verified then (${verifiedNamesake}) end as "sameNameAs"
    from page c join log.contract k on k.contract_id = c.collection_id
    left join metadata.contract md on md.contract_id = c.collection_id
    order by c.place`.execute(db);
  return rows;
}

/** Of those of the same name first; then of those whose names look like it. */
const verifiedNamesake = sql`
  select jsonb_build_object('chainId', v.chain_id, 'address', '0x' || encode(a.address, 'hex'), 'slug', v.slug,
                            'name', v.name)
  from collections.word own
  cross join lateral (
    select known.collection_id, false as is_alike from collections.word known
    where known.chain_id in (${sql.join(chainIds.map((id) => sql.lit(id)))})
      and known.verified and known.word = own.word and known.is_name
    union all
    select known.collection_id, true from collections.word known where known.verified and known.look = own.look
  ) known
  join collections.collection v on v.collection_id = known.collection_id
  join log.contract a on a.contract_id = v.collection_id
  where own.collection_id = c.collection_id and own.is_name
  order by known.is_alike, v.chain_id <> c.chain_id, v.collection_id limit 1`;

/** A token that a search finds, and its collection. */
export type TokenMatch = {
  chainId: number;
  contract: Hex;
  tokenId: bigint;
  name: string | null;
  image: string | null;
  collectionAddress: Hex;
  collectionSlug: string | null;
  collectionName: string | null;
  verified: boolean;
};

/** Rows of an index range that are looked at. */
const maxTokenCandidates = 200;

/** The tokens of an id that contracts have, in the order of the contracts. */
export function readTokensAt(
  db: Database,
  contractIds: readonly number[],
  tokenId: bigint,
): Promise<TokenMatch[]> {
  return readTokenMatches(
    db,
    sql`
      select t.contract_id, t.token_id, one.place
      from unnest(${contractIds}::int[]) with ordinality one (contract_id, place)
      cross join lateral (
        select * from ${tokensAt(sql`one.contract_id`, sql`${String(tokenId)}::numeric`)} t limit 1
      ) t`,
    sql`o.place`,
    contractIds.length,
  );
}

/** Tokens whose names begin with a text, in any case; those of verified collections first. */
export function readTokensByName(
  db: Database,
  chainIds: readonly number[],
  text: string,
  limit: number,
): Promise<TokenMatch[]> {
  const name = sql`(lower(left(t.name, 64)) collate "C")`;
  return readTokenMatches(
    db,
    sql`
      select near.contract_id, near.token_id, row_number() over (order by near.name, near.contract_id, near.token_id) as place
      from unnest(${chainIds}::int[]) chain (chain_id)
      cross join lateral (
        select t.contract_id, t.token_id, ${name} as name from metadata.token t
        where t.chain_id = chain.chain_id and t.name is not null
          and ${beginsWith(name, sql`lower(left(${text}::text, 64))`)}
        order by ${name} limit ${maxTokenCandidates}
      ) near`,
    sql`coalesce(c.verified, false) desc, o.place`,
    limit,
  );
}

async function readTokenMatches(
  db: Database,
  found: RawBuilder<unknown>,
  order: RawBuilder<unknown>,
  limit: number,
): Promise<TokenMatch[]> {
  const { rows } = await sql<TokenMatch>`
    select traded.chain_id as "chainId", traded.address as contract, o.token_id as "tokenId", md.name, md.image,
           coalesce(main.address, traded.address) as "collectionAddress", c.slug as "collectionSlug",
           c.name as "collectionName", coalesce(c.verified, false) as verified
    from (${found}) o
    join log.contract traded on traded.contract_id = o.contract_id
    left join collections.contract m on m.contract_id = o.contract_id
    left join collections.collection c on c.collection_id = coalesce(m.collection_id, o.contract_id)
    left join log.contract main on main.contract_id = c.collection_id
    left join metadata.token md on md.contract_id = o.contract_id and md.token_id = o.token_id
    order by ${order}, o.contract_id, o.token_id limit ${limit}`.execute(db);
  return rows;
}

export type TransactionMatch = {
  chainId: number;
  hash: Hex;
  blockNumber: bigint;
  timestamp: Date;
  sales: bigint;
};
export type OrderMatch = {
  chainId: number;
  orderHash: Hex;
  /** null: a bid. */
  marketplace: ListingMarketplace | null;
  maker: Hex;
  status: OrderStatus;
};
export type SaleMatch = { chainId: number; saleId: Hex; transactionHash: Hex; timestamp: Date };

/** What has a hash: transactions with events that are indexed, in blocks that are not retracted, orders and sales. */
export async function readHashMatches(
  db: Database,
  chainIds: readonly number[],
  hash: Hex,
  now: Date,
): Promise<{ transactions: TransactionMatch[]; orders: OrderMatch[]; sales: SaleMatch[] }> {
  const [transactions, orders, sales] = await Promise.all([
    readTransactions(db, chainIds, hash),
    readOrders(db, chainIds, hash, now),
    readSales(db, chainIds, hash),
  ]);
  return { transactions, orders, sales };
}

async function readTransactions(db: Database, chainIds: readonly number[], hash: Hex) {
  const lastState = sql`
    select f.kind from log.fact f
    where f.block_id = t.block_id and f.kind in ${kindList("block_retracted", "block_readopted")}
    order by f.position desc limit 1`;
  const { rows } = await sql<TransactionMatch>`
    select b.chain_id as "chainId", t.hash, b.number as "blockNumber", b.timestamp, (
             select count(*) from sales.sale s
             where s.block_id = t.block_id and s.transaction_index = t.transaction_index
           ) as sales
    from log.transaction t join log.block b using (block_id)
    where t.hash = ${bytea(hash)} and b.chain_id = any (${chainIds}::int[])
      and (${lastState}) is distinct from ${kindLiteral("block_retracted")}
    order by t.block_id desc limit ${maxRows}`.execute(db);
  return rows;
}

async function readOrders(db: Database, chainIds: readonly number[], hash: Hex, now: Date) {
  const columns = sql`
    o.chain_id as "chainId", o.order_hash as "orderHash", o.maker,
    case when ${endedSince(now)} then 'expired' else o.status end as status`;
  const ofHash = sql`o.order_hash = ${bytea(hash)} and o.chain_id = any (${chainIds}::int[])`;
  const { rows } = await sql<OrderMatch>`
    select ${columns}, o.marketplace from listings.listing o where ${ofHash}
    union all
    select ${columns}, null from bids.bid o where ${ofHash}
    order by 1 limit ${maxRows}`.execute(db);
  return rows;
}

async function readSales(db: Database, chainIds: readonly number[], hash: Hex) {
  const { rows } = await sql<SaleMatch>`
    select s.chain_id as "chainId", s.sale_id as "saleId", s.transaction_hash as "transactionHash", s.timestamp
    from sales.sale s where s.sale_id = ${bytea(hash)} and s.chain_id = any (${chainIds}::int[])
    order by s.block_id desc limit ${maxRows}`.execute(db);
  return rows;
}

/** A hash is one thing; a transaction may be in several live blocks for a moment. */
const maxRows = 10;
