import { type RawBuilder, sql } from "kysely";
import { unixSeconds } from "#projections/orders/read-orders.ts";
import { tokensAt } from "../engine/token-ids.ts";
import { nativeCoins, priceAt, saleUsdE8 } from "../engine/usd.ts";
import type { Session } from "../log/database.ts";
import { anyValue } from "../log/sql-values.ts";
import { documentStart } from "../metadata/read-media.ts";
import { type BidRow, bestBidsOnContract, bestBidsOnToken } from "../orders/read-bids.ts";
import type { ListingRow } from "../orders/read-listings.ts";
import type { SaleRow } from "../sales/read-sale.ts";
import { holdersOf, type TokenRow } from "./read-token.ts";
import type { StandardToken } from "./read-token-filter.ts";

type TokenAttribute = {
  trait_type: string;
  value: string | number | boolean;
  display_type?: string;
};

/** A token with its metadata and rank; null: metadata not fetched yet. */
export type DescribedToken = TokenRow & {
  status: "ok" | "failed" | null;
  name: string | null;
  description: string | null;
  image: string | null;
  animation: string | null;
  contentType: string | null;
  tokenUri: string | null;
  attributes: TokenAttribute[] | null;
  describedAt: Date | null;
  /** Why there is no metadata, or what of the document was left out, as recorded. */
  issue: string | null;
  rank: number | null;
  score: number | null;
  /** Number of tokens with a rank. */
  ranked: number | null;
};

/** A token with its cheapest listing, best bid and last sale. */
export type TokenDetails = {
  row: DescribedToken;
  listing: TokenListingRow | null;
  bestBid: TokenBidRow | null;
  lastSale: TokenSaleRow | null;
};

const tokenParts = [
  "metadata",
  "attributes",
  "rank",
  "listing",
  "bestBid",
  "lastSale",
  "documents",
] as const;
export type TokenPart = (typeof tokenParts)[number];
/**
 * What of a token's details is wanted: the rest is null, and not looked up. Without `documents` only the beginnings of
 * those that are stored inline.
 */
export type TokenParts = ReadonlySet<TokenPart>;
export const allTokenParts: TokenParts = new Set(tokenParts);
/** What lists show. */
export const listedTokenParts: TokenParts = new Set(
  tokenParts.filter((part) => part !== "documents"),
);

/** What of which tokens: ranks are in the given collection; null: in each token's own. */
type WantedDetails = { collectionId: number | null; parts: TokenParts; now: Date };

/**
 * CTEs that follow `requested` (contract_id, token_id, standard, ord): `token_detail`, a row for each requested token.
 * `columns`: of `requested`, and of `detail`, its details.
 */
export function detailsCtes(
  { collectionId, parts, now }: WantedDetails,
  columns: RawBuilder<unknown> = sql`requested.ord, detail.*`,
): RawBuilder<unknown> {
  const ifWanted = (...named: TokenPart[]) =>
    named.some((part) => parts.has(part)) ? sql`true` : sql`false`;
  return sql`
    ${coinsAt(anyValue(now.toISOString(), "timestamptz"))}, ${contractsCtes(now)},
    token_detail as (
      select ${columns}
      from requested
      cross join lateral (
        select t.* from ${tokensAt(sql`requested.contract_id`, sql`requested.token_id`)} t
        where t.standard = requested.standard offset 0
      ) t
      cross join lateral (select k.address from requested_contract k where k.contract_id = requested.contract_id offset 0) k
      left join lateral (
        select m.* from metadata.token m
        where m.contract_id = requested.contract_id and m.token_id = requested.token_id offset 0
      ) m on ${ifWanted("metadata", "attributes")}
      left join lateral (${rankOfToken(collectionId)}) r on ${ifWanted("rank")} and not t.is_burned
      left join lateral (${cheapestListing(now)}) l on ${ifWanted("listing")}
      left join lateral (${bestBid(now)}) b on ${ifWanted("bestBid")}
      left join lateral (${lastSale}) s on ${ifWanted("lastSale")}
      cross join lateral (select ${detailColumns(parts)}) detail
    )`;
}

function detailColumns(parts: TokenParts): RawBuilder<unknown> {
  const uri = parts.has("documents") ? (column: RawBuilder<unknown>) => column : documentStart;
  const attributes = parts.has("attributes")
    ? sql`case when m.status = 'ok' then m.attributes end`
    : sql`null::jsonb`;
  return sql`
    t.contract_id as "contractId", k.address as contract, t.token_id as "tokenId", t.standard, t.owner, t.supply,
    t.is_burned as "isBurned", ${holdersOf} as holders, m.status, m.name, m.description,
    ${uri(sql`m.image`)} as image, ${uri(sql`m.animation`)} as animation, m.content_type as "contentType",
    ${uri(sql`m.token_uri`)} as "tokenUri", ${attributes} as attributes, m.updated_at as "describedAt", m.issue,
    r.rank, r.score, r.ranked, ${tradeColumns}`;
}

/** The details in a row of `token_detail`. */
export function detailsOfRow<Row extends DescribedToken>(row: Row): TokenDetails & { row: Row } {
  return {
    row,
    listing: tradeOfRow<TokenListingRow>("listing", row),
    bestBid: tradeOfRow<TokenBidRow>("bid", row),
    lastSale: tradeOfRow<TokenSaleRow>("sale", row),
  };
}

/** Details of tokens, in their order, in one statement. */
export async function readTokenDetails(
  session: Session,
  tokens: readonly StandardToken[],
  wanted: WantedDetails,
): Promise<TokenDetails[]> {
  if (tokens.length === 0) return [];
  const { rows } = await sql<DescribedToken>`
    with ${requestedTokens(tokens)}, ${detailsCtes(wanted)} select * from token_detail order by ord`.execute(
    session,
  );
  return rows.map(detailsOfRow);
}

/** CTE `requested`: the tokens, in their order. */
function requestedTokens(tokens: readonly StandardToken[]): RawBuilder<unknown> {
  const contracts = tokens.map(({ contractId }) => contractId);
  const ids = tokens.map(({ tokenId }) => String(tokenId));
  const standards = tokens.map(({ standard }) => standard);
  return sql`
    requested as materialized (
      select * from unnest(
        ${anyValue(contracts, "int[]")}, ${anyValue(ids, "numeric[]")}, ${anyValue(standards, "int[]")}
      ) with ordinality one (contract_id, token_id, standard, ord)
    )`;
}

/** The cheapest active listing per unit of the requested token; of equal ones the oldest. */
function cheapestListing(now: Date): RawBuilder<unknown> {
  return sql`
    select o.* from listings.listing o
    where o.contract_id = requested.contract_id and o.token_id = requested.token_id and ${isActive(now)}
    order by o.unit_price_wei, o.position limit 1`;
}

/**
 * CTEs, read once per contract: `requested_contract`, the requested tokens' contracts with their addresses, and
 * `best_collection_bid`, the active collection bid of each that nets the seller most.
 */
function contractsCtes(now: Date): RawBuilder<unknown> {
  return sql`
    requested_contract as materialized (
      select k.contract_id, k.address
      from (select distinct contract_id from requested offset 0) own cross join lateral (
        select k.* from log.contract k where k.contract_id = own.contract_id offset 0
      ) k
    ), best_collection_bid as materialized (
      select o.* from requested_contract
      cross join lateral ${bestBidsOnContract(sql`requested_contract.contract_id`, oneOpen(now))} o
    )`;
}

/** The active bid on the requested token that nets the seller most; of equal ones a bid on the token itself first, then the oldest. */
function bestBid(now: Date): RawBuilder<unknown> {
  const token = { contractId: sql`requested.contract_id`, tokenId: sql`requested.token_id` };
  return sql`
    select o.* from (
      ${bestBidsOnToken(token, oneOpen(now))}
      union all
      select o.* from best_collection_bid o where o.contract_id = requested.contract_id
    ) o
    order by o.seller_net_wei desc, o.token_id is null, o.criteria is null, o.position limit 1`;
}

const lastSale = sql`
  select s.* from sales.sale s
  where s.contract_id = requested.contract_id and s.token_id = requested.token_id
  order by s.block_id desc, s.transaction_index desc, s.ordinal desc limit 1`;

/** The rank of the requested token in the collection; null: in its own. */
function rankOfToken(collectionId: number | null): RawBuilder<unknown> {
  const id = anyValue(collectionId, "int");
  const own =
    collectionId === null
      ? sql`coalesce((select m.collection_id from collections.contract m where m.contract_id = requested.contract_id), requested.contract_id)`
      : id;
  const ranked = collectionId === null ? sql`r.collection_id` : id;
  return sql`
    select r.rank, r.score, (select c.tokens from rarity.collection c where c.collection_id = ${ranked}) as ranked
    from rarity.token r
    where r.contract_id = requested.contract_id and r.token_id = requested.token_id and r.collection_id = ${own} offset 0`;
}

const isOpen = (now: Date) => sql`o.end_time > ${anyValue(unixSeconds(now), "bigint")}`;

/** Of active bids, the best that has not ended. */
const oneOpen = (now: Date) => ({ isWanted: isOpen(now), limit: 1 });

function isActive(now: Date): RawBuilder<unknown> {
  return sql`o.status = 'active' and ${isOpen(now)}`;
}

/** SQL of each column, by its name in a row. */
type Columns<Row> = { readonly [Name in keyof Row]: RawBuilder<unknown> };

type OrderPart =
  | "chainId"
  | "orderHash"
  | "maker"
  | "unitPriceWei"
  | "unitPriceUsdE8"
  | "quantity"
  | "filled"
  | "endTime";

/** Columns of a token's cheapest active listing. */
export type TokenListingRow = Pick<
  ListingRow,
  OrderPart | "marketplace" | "isBuyable" | "currency" | "fillable" | "startTime"
>;
/** Columns of a token's best active bid. */
export type TokenBidRow = Pick<BidRow, OrderPart | "kind" | "sellerNetWei" | "currency">;
/** Columns of a token's last sale. */
export type TokenSaleRow = Pick<
  SaleRow,
  | "chainId"
  | "saleId"
  | "quantity"
  | "priceWei"
  | "totalWei"
  | "currency"
  | "priceUsdE8"
  | "seller"
  | "buyer"
  | "via"
  | "washRule"
  | "marketplace"
  | "protocol"
  | "protocolVersion"
  | "exchange"
  | "transactionHash"
  | "timestamp"
>;

/** CTE `coin`: the price of each chain's coin at a time, read once for all rows. */
function coinsAt(at: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    coin as materialized (
      select native.chain_id, ${priceAt(sql`native.coin`, at)} as price_e8 from ${nativeCoins}
    )`;
}

const orderColumns = (row: string): Columns<Pick<ListingRow, OrderPart>> => ({
  chainId: sql.ref(`${row}.chain_id`),
  orderHash: sql.ref(`${row}.order_hash`),
  maker: sql.ref(`${row}.maker`),
  unitPriceWei: sql.ref(`${row}.unit_price_wei`),
  unitPriceUsdE8: sql`div(${sql.ref(`${row}.unit_price_wei`)} * (
    select coin.price_e8 from coin where coin.chain_id = ${sql.ref(`${row}.chain_id`)}
  ), 1000000000000000000)`,
  quantity: sql.ref(`${row}.quantity`),
  filled: sql.ref(`${row}.filled`),
  endTime: sql.ref(`${row}.end_time`),
});

const listingColumns: Columns<TokenListingRow> = {
  ...orderColumns("l"),
  marketplace: sql`l.marketplace`,
  isBuyable: sql`l.is_buyable`,
  currency: sql`l.currency`,
  fillable: sql`l.fillable`,
  startTime: sql`l.start_time`,
};

const bidColumns: Columns<TokenBidRow> = {
  ...orderColumns("b"),
  kind: sql`b.kind`,
  sellerNetWei: sql`b.seller_net_wei`,
  currency: sql`b.currency`,
};

const saleColumns: Columns<TokenSaleRow> = {
  chainId: sql`s.chain_id`,
  saleId: sql`s.sale_id`,
  quantity: sql`s.quantity`,
  priceWei: sql`s.price_wei`,
  totalWei: sql`s.total_wei`,
  currency: sql`s.currency`,
  priceUsdE8: saleUsdE8,
  seller: sql`s.seller`,
  buyer: sql`s.buyer`,
  via: sql`s.via`,
  washRule: sql`(
    select w.rule from sales.wash_trade w
    where w.block_id = s.block_id and w.transaction_index = s.transaction_index and w.ordinal = s.ordinal
  )`,
  marketplace: sql`s.marketplace`,
  protocol: sql`s.protocol`,
  protocolVersion: sql`s.protocol_version`,
  exchange: sql`s.exchange`,
  transactionHash: sql`s.transaction_hash`,
  timestamp: sql`s.timestamp`,
};

const trades = { listing: listingColumns, bid: bidColumns, sale: saleColumns };

/** Columns of rows `l`, `b` and `s`, prefixed with `listing_`, `bid_` and `sale_`. */
const tradeColumns = sql.join(
  Object.entries(trades).flatMap(([of, columns]) =>
    Object.entries(columns).map(([name, column]) => sql`${column} as ${sql.ref(`${of}_${name}`)}`),
  ),
);

const namesOf = (of: keyof typeof trades) =>
  Object.keys(trades[of]).map((name) => [name, `${of}_${name}`] as const);
const names = { listing: namesOf("listing"), bid: namesOf("bid"), sale: namesOf("sale") };

/** The listing, bid or sale in a row; null: none. */
function tradeOfRow<Row extends object>(
  of: keyof typeof trades,
  row: Readonly<Record<string, unknown>>,
): Row | null {
  if (row[`${of}_chainId`] === null) return null;
  const trade: Record<string, unknown> = {};
  for (const [name, column] of names[of]) trade[name] = row[column];
  return trade as Row;
}
