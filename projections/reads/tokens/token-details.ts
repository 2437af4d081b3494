import { type RawBuilder, sql } from "kysely";
import type { Session } from "#projections/log/database.ts";
import { anyValue } from "#projections/log/sql-values.ts";
import { documentStart } from "#projections/metadata/read-media.ts";
import { tokensAt } from "#projections/engine/token-ids.ts";
import { holdersOf, type TokenRow } from "../ownership/read-token.ts";
import type { StandardToken } from "./filter.ts";
import { bestBid, cheapestListing, contractsCtes, lastSale, rankOfToken, requestedTokens } from "./token-trades.ts";
import { coinsAt, type TokenBidRow, type TokenListingRow, type TokenSaleRow, tradeColumns, tradeOfRow } from "./trade-columns.ts";

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
