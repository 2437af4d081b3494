import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import { bookFigures } from "../collection-stats/book-figures.ts";
import { type Period, periods, tradedColumns } from "../collection-stats/periods.ts";
import { sortKey } from "../collection-stats/table.ts";
import type { Database } from "../database.ts";
import type { ListingMarketplace } from "../listings/marketplaces.ts";
import { hasEnded, unixSeconds } from "../orders/read-shown.ts";
import { partnerRoyalty } from "./creator-fees.ts";

/** The family's cheapest listing. */
export type StoredFloor = {
  priceWei: string;
  orderHash: Hex;
  tokenId: string;
  marketplace: ListingMarketplace;
  isBuyable: boolean;
};

/** The bid on any of the family's tokens that nets its seller most. */
export type StoredOffer = { priceWei: string; sellerNetWei: string; orderHash: Hex };

/** Sales in any currency; wei in the chain's; 10⁻⁸ USD of these where a price was known, null where none was. */
type Traded = { sales: bigint; wei: bigint; usdE8: bigint | null };

/** A family of contracts under its primary one; figures are of the whole family. */
export type CollectionRow = {
  collectionId: number;
  chainId: number;
  address: Hex;
  slug: string | null;
  name: string | null;
  symbol: string | null;
  standard: 721 | 1155 | null;
  verified: boolean;
  createdAt: Date | null;
  updatedAt: Date | null;
  /** What the primary contract's document says. */
  description: string | null;
  image: string | null;
  banner: string | null;
  website: string | null;
  twitter: string | null;
  discord: string | null;
  contracts: { address: Hex; standard: 721 | 1155 | null }[];
  /** Of the primary contract. */
  royalty: { recipient: Hex; bps: number; source: "partner" | "configured" } | null;
  supply: bigint;
  holders: bigint;
  listed: bigint;
  floor: StoredFloor | null;
  floorBuyable: StoredFloor | null;
  bestOffer: StoredOffer | null;
  traded: Record<Period | "all", Traded>;
  /** Of the floor, in millionths. */
  change: Record<Period, bigint | null>;
  /** What the list was sorted by. */
  sortKey: bigint;
};

type CollectionsFilter = {
  chainId: number;
  /** Part of a name or an address, in any case. */
  search: string | null;
  verified: boolean | null;
};

export type CollectionKey = { sortKey: bigint; collectionId: number };

type CollectionOrder = {
  sort: "volume" | "floor" | "sales" | "listed" | "supply" | "holders" | "change";
  direction: "asc" | "desc";
  period: Period;
};

type Slice = { limit: number; offset: number; after: CollectionKey | null };

/** Collections in order, and how many the filter matches, of one moment. */
export async function readCollections(
  db: Database,
  filter: CollectionsFilter,
  order: CollectionOrder,
  slice: Slice,
  now: Date,
): Promise<{ total: bigint; rows: CollectionRow[] }> {
  const towards = order.direction === "asc" ? sql`asc` : sql`desc`;
  const key = sql.raw(sortKey(order.sort, order.direction, order.period));
  const { chainId, verified } = filter;
  const ofFilter = sql`
    chain_id = ${chainId} ${verified === null ? sql`` : sql`and verified = ${verified}`}`;
  const found = filter.search === null ? null : wordsLike(filter.search);
  const { rows } = await sql<FlatRow>`
    with matched as materialized (
      select collection_id from collection_stats.name where ${ofFilter} and ${found ?? sql`false`}
    ), counted as (
      ${
        found === null
          ? sql`select coalesce(sum(rows), 0)::bigint as total from collection_stats.total where ${ofFilter}`
          : sql`select count(*) as total from matched`
      }
    ), place as materialized (
      select collection_id, ${key}::numeric as sort_key
      from collection_stats.family
      where ${ofFilter} ${found === null ? sql`` : sql`and collection_id in (select collection_id from matched)`}
        ${beyond(key, order, slice.after)}
      order by ${key} ${towards}, collection_id ${towards}
      limit ${slice.limit} offset ${slice.offset}
    ), page as (
      select f.*, place.sort_key from place join collection_stats.family f using (collection_id)
    )
    select counted.total, ${columns(now)}
    from counted left join page f on true ${naming(now)}
    order by f.sort_key ${towards}, f.collection_id ${towards}`.execute(db);
  return {
    total: rows[0]?.total ?? 0n,
    rows: rows.filter(({ collectionId }) => collectionId !== null).map(deepen),
  };
}

export async function readCollection(
  db: Database,
  collectionId: number,
  now: Date,
): Promise<CollectionRow | null> {
  const { rows } = await sql<FlatRow>`
    select 0::bigint as total, ${columns(now)}
    from (
      select *, 0::numeric as sort_key from collection_stats.family where collection_id = ${collectionId}
    ) f ${naming(now)}`.execute(db);
  const [row] = rows;
  return row === undefined ? null : deepen(row);
}

type FlatTraded = Record<`${"sales" | "wei" | "priced" | "usd_e8"}_${Period | "all"}`, bigint>;
type FlatChange = Record<`change_${Period}`, bigint | null>;
type FlatRow = Omit<CollectionRow, "traded" | "change" | "royalty"> &
  FlatTraded &
  FlatChange & { total: bigint; recipient: Hex | null; bps: number | null; fromPartner: boolean };

function deepen(row: FlatRow): CollectionRow {
  const { recipient, bps, fromPartner } = row;
  const source = fromPartner ? "partner" : "configured";
  return {
    ...row,
    royalty: recipient === null || bps === null ? null : { recipient, bps, source },
    traded: {
      "24h": tradedOf(row, "24h"),
      "7d": tradedOf(row, "7d"),
      "30d": tradedOf(row, "30d"),
      all: tradedOf(row, "all"),
    },
    change: { "24h": row.change_24h, "7d": row.change_7d, "30d": row.change_30d },
  };
}

function tradedOf(row: FlatRow, period: Period | "all"): Traded {
  const [sales, wei] = [row[`sales_${period}`], row[`wei_${period}`]];
  const isUnknown = wei > 0n && row[`priced_${period}`] === 0n;
  return { sales, wei, usdE8: isUnknown ? null : row[`usd_e8_${period}`] };
}

function wordsLike(search: string): RawBuilder<unknown> {
  const pattern = search.toLowerCase().replaceAll(/[\\%_]/g, "\\$&");
  return sql`words like ${`%${pattern}%`}`;
}

function beyond(
  key: RawBuilder<unknown>,
  { direction }: CollectionOrder,
  after: CollectionKey | null,
): RawBuilder<unknown> {
  if (after === null) return sql``;
  const than = direction === "asc" ? sql`>` : sql`<`;
  return sql`and (${key}, collection_id) ${than} (${after.sortKey}::numeric, ${after.collectionId}::int)`;
}

/** Of family `f` joined with `naming`. */
function columns(now: Date): RawBuilder<unknown> {
  const figures = [...tradedColumns, ...periods.map((period) => `change_${period}`)];
  const shown = (column: string) =>
    sql`case when ${hasTurned(now)} then live.${sql.ref(column)} else f.${sql.ref(column)} end`;
  return sql`
    f.sort_key as "sortKey", f.collection_id as "collectionId", f.chain_id as "chainId", k.address, c.slug, c.name,
    c.symbol, c.standard, f.verified, c.created_at as "createdAt", c.updated_at as "updatedAt", made.contracts,
    md.description, md.image, md.banner, md.website, md.twitter, md.discord,
    coalesce(due.recipient, c.royalty_recipient) as recipient, coalesce(due.bps, c.royalty_bps) as bps,
    due.recipient is not null as "fromPartner", f.supply, f.holders,
    f.listed - coalesce(ended.tokens, 0) as listed, ${shown("floor")} as floor,
    ${shown("floor_buyable")} as "floorBuyable", ${shown("best_offer")} as "bestOffer",
    ${sql.join(figures.map((figure) => sql`f.${sql.id(figure)}`))}`;
}

/** The clock of the tables is that of the last tick: what an order of family `f` may have ended since is read anew. */
const hasTurned = (now: Date) => sql`f.turns_at <= ${unixSeconds(now)}::bigint`;

function naming(now: Date): RawBuilder<unknown> {
  return sql`
    left join collections.collection c on c.collection_id = f.collection_id
    left join log.contract k on k.contract_id = f.collection_id
    left join metadata.contract md on md.contract_id = f.collection_id
    left join lateral (${partnerRoyalty(sql`f.collection_id`)}) due on true
    left join lateral (
      select jsonb_agg(jsonb_build_object('address', '0x' || encode(a.address, 'hex'), 'standard', m.standard)
                       order by m.contract_id <> f.collection_id, m.contract_id) as contracts
      from collections.member m join log.contract a using (contract_id) where m.collection_id = f.collection_id
    ) made on true
    left join lateral (${whereTurned(bookFigures("collection_stats", sql`not ${hasEnded(now)}`), now)}) live on true
    left join lateral (${whereTurned(endedTokens(now), now)}) ended on true`;
}

/** What is read of family `f` only where something has ended: a condition of the join would be asked afterwards. */
function whereTurned(read: RawBuilder<unknown>, now: Date): RawBuilder<unknown> {
  return sql`
    select told.* from (select where ${hasTurned(now)} offset 0) turned cross join lateral (${read} offset 0) told`;
}

/** Tokens of family `f` that count as listed, though the last of their listings has ended. */
function endedTokens(now: Date): RawBuilder<unknown> {
  return sql`
    select count(*) as tokens
    from collection_stats.contract n join collection_stats.token t using (contract_id)
    where n.collection_id = f.collection_id and t.is_listed and t.turns_at <= ${unixSeconds(now)}::bigint
      and not exists (
        select from listings.listing o
        where o.contract_id = t.contract_id and o.token_id = t.token_id and o.status = 'active'
          and not ${hasEnded(now)}
      )`;
}
