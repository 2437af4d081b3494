import { type RawBuilder, sql } from "kysely";
import type { Session } from "../../database.ts";
import { anyValue } from "../../sql/any-value.ts";
import { holdersOf, type TokenRow } from "../ownership/read.ts";
import type { StandardToken } from "./filter.ts";
import {
  coinsAt,
  type TokenBidRow,
  type TokenListingRow,
  type TokenSaleRow,
  tradeColumns,
  tradeIn,
} from "./trade-columns.ts";
import { asked, bestBid, cheapestListing, families, lastSale, rankIn } from "./trades-of.ts";

type TokenAttribute = {
  trait_type: string;
  value: string | number | boolean;
  display_type?: string;
};

/** A token with what its metadata says and its rank; absent metadata has not been fetched yet. */
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
  rank: number | null;
  score: number | null;
  /** Tokens that have a rank. */
  ranked: number | null;
};

/** A token with what it costs, what is bid for it, and its last sale. */
export type TokenDetails = {
  row: DescribedToken;
  listing: TokenListingRow | null;
  bestBid: TokenBidRow | null;
  lastSale: TokenSaleRow | null;
};

/**
 * CTEs beside `asked` (contract_id, token_id, standard, ord): `detailed`, what there is to tell of each asked token.
 * Ranks are those in the collection; null: in that of each token. `place`: what it tells of `asked`, its `ord` among it.
 */
export function detailed(
  collectionId: number | null,
  now: Date,
  place: RawBuilder<unknown> = sql`asked.ord`,
): RawBuilder<unknown> {
  return sql`
    ${coinsAt(anyValue(now.toISOString(), "timestamptz"))}, ${families(now)},
    detailed as (
      select ${place}, t.contract_id as "contractId", k.address as contract, t.token_id as "tokenId", t.standard,
             t.owner, t.supply, t.is_burned as "isBurned", ${holdersOf} as holders, m.status, m.name, m.description,
             m.image, m.animation, m.content_type as "contentType", m.token_uri as "tokenUri",
             case when m.status = 'ok' then m.attributes end as attributes, m.updated_at as "describedAt",
             r.rank, r.score, r.ranked, ${tradeColumns}
      from asked
      cross join lateral (
        select t.* from ownership.token t
        where t.contract_id = asked.contract_id and t.token_id = asked.token_id and t.standard = asked.standard
        offset 0
      ) t
      cross join lateral (select k.address from family k where k.contract_id = asked.contract_id offset 0) k
      left join lateral (
        select m.* from metadata.token m
        where m.contract_id = asked.contract_id and m.token_id = asked.token_id offset 0
      ) m on true
      left join lateral (${rankIn(collectionId)}) r on not t.is_burned
      left join lateral (${cheapestListing(now)}) l on true
      left join lateral (${bestBid(now)}) b on true
      left join lateral (${lastSale}) s on true
    )`;
}

/** What a row of `detailed` tells. */
export function detailsIn<Row extends DescribedToken>(row: Row): TokenDetails & { row: Row } {
  return {
    row,
    listing: tradeIn<TokenListingRow>("listing", row),
    bestBid: tradeIn<TokenBidRow>("bid", row),
    lastSale: tradeIn<TokenSaleRow>("sale", row),
  };
}

/** Of tokens in the order asked, in one statement. */
export async function readTokenDetails(
  session: Session,
  collectionId: number | null,
  places: readonly StandardToken[],
  now: Date,
): Promise<TokenDetails[]> {
  if (places.length === 0) return [];
  const { rows } = await sql<DescribedToken>`
    with ${asked(places)}, ${detailed(collectionId, now)} select * from detailed order by ord`.execute(
    session,
  );
  return rows.map(detailsIn);
}
