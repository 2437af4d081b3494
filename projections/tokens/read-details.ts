import { sql } from "kysely";
import type { BidRow } from "../bids/read.ts";
import { readBestBidsOfTokens } from "../bids/read-best.ts";
import type { Session } from "../database.ts";
import type { ListingRow } from "../listings/read.ts";
import { readCheapestListings } from "../listings/read-cheapest.ts";
import { holdersOf, type TokenRow } from "../ownership/read.ts";
import { readLastSales } from "../sales/read-last.ts";
import type { SaleRow } from "../sales/shown.ts";
import { askedTokens, nameOfToken } from "../token-place.ts";
import type { StandardToken } from "./filter.ts";

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
  listing: ListingRow | null;
  bestBid: BidRow | null;
  lastSale: SaleRow | null;
};

/**
 * What there is to tell of tokens, in the order asked: a few statements for all of them. Ranks are those in the
 * collection; null: in that of each token.
 */
export async function readTokenDetails(
  session: Session,
  collectionId: number | null,
  places: readonly StandardToken[],
  now: Date,
): Promise<TokenDetails[]> {
  if (places.length === 0) return [];
  const rows = await readDescribed(session, collectionId, places);
  const listings = await readCheapestListings(session, places, now);
  const bids = await readBestBidsOfTokens(session, places, now);
  const sales = await readLastSales(session, places);
  return rows.map((row) => ({
    row,
    listing: listings.get(nameOfToken(row)) ?? null,
    bestBid: bids.get(nameOfToken(row)) ?? null,
    lastSale: sales.get(nameOfToken(row)) ?? null,
  }));
}

async function readDescribed(
  session: Session,
  collectionId: number | null,
  places: readonly StandardToken[],
): Promise<DescribedToken[]> {
  const standards = places.map(({ standard }) => standard);
  const { rows } = await sql<DescribedToken>`
    select t.contract_id as "contractId", k.address as contract, t.token_id as "tokenId", t.standard, t.owner,
           t.supply, t.is_burned as "isBurned", ${holdersOf} as holders, m.status, m.name, m.description, m.image,
           m.animation, m.content_type as "contentType", m.token_uri as "tokenUri",
           case when m.status = 'ok' then m.attributes end as attributes, m.updated_at as "describedAt",
           r.rank, r.score, r.ranked
    from ${askedTokens(places)}
    join unnest(${standards}::int[]) with ordinality wanted (standard, ord) using (ord)
    join ownership.token t
      on t.contract_id = asked.contract_id and t.token_id = asked.token_id and t.standard = wanted.standard
    join log.contract k on k.contract_id = t.contract_id
    left join metadata.token m on m.contract_id = t.contract_id and m.token_id = t.token_id
    left join lateral (
      select r.rank, r.score, c.tokens as ranked
      from rarity.token r join rarity.collection c using (collection_id)
      where r.contract_id = t.contract_id and r.token_id = t.token_id and not t.is_burned
        and r.collection_id = coalesce(${collectionId}::int, (
          select m.collection_id from collections.member m where m.contract_id = t.contract_id
        ), t.contract_id)
    ) r on true
    order by ord`.execute(session);
  return rows;
}
