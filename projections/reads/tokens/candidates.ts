import { type RawBuilder, sql } from "kysely";
import { tokensIn } from "../../sql/token-bits.ts";
import { isNamed, isOfTraits, type TokenKey, type TokenSort, type TokensFilter } from "./filter.ts";

/** Rows after a place: at least the first `limit` of them, of each contract. */
export type Rows = (after: TokenKey | null, limit: RawBuilder<unknown>) => RawBuilder<unknown>;

/**
 * Where a list's tokens come from: `walk` meets them in order on an index, `chosen` are the named ones, looked up first,
 * and `having` the ids with the traits, read off bits and looked up in order, as far as the page needs.
 */
export type Source = "walk" | "chosen" | "having";

/** A way to the rows, taken where `when` holds; absent: always. */
export type Way = { source: Source; when?: RawBuilder<unknown> };

/** Of many tokens with the traits, a walk that looks at each token's traits meets a page of them sooner. */
export function waysTo(filter: TokensFilter, sort: TokenSort, limit: RawBuilder<unknown>): Way[] {
  if (isNamed(filter)) return [{ source: "chosen" }];
  if (!isOfTraits(filter)) return [{ source: "walk" }];
  const { near, far, tokens } = walkLength[sort];
  const areFew = sql`(
    select ids * ids <= case when are_near then ${near} else ${far} end * ${limit} * ${tokens} from totals
  )`;
  return [
    { source: "having", when: areFew },
    { source: "walk", when: sql`not ${areFew}` },
  ];
}

/**
 * How long a walk to a page is for what it costs to sort the ids instead; `near`: where its step is a look at one string.
 * Of `tokens` it meets all, or those with the rarest trait. By rank tokens with common traits come late; a price has to
 * be looked up before it can be sorted by.
 */
const byPrice = { near: sql.lit(0.05), far: sql.lit(1), tokens: sql`rarest` };
const walkLength = {
  token_id: { near: sql.lit(0.08), far: sql.lit(3), tokens: sql`tokens` },
  price_asc: byPrice,
  price_desc: byPrice,
  recently_listed: { near: sql.lit(0.08), far: sql.lit(1), tokens: sql`tokens` },
  rarity: { near: sql.lit(0.2), far: sql.lit(9), tokens: sql`tokens` },
};

/** Rows `(contract_id, token_id)` of the ids with the traits; not each is a token of the chain. */
export const idsHaving = sql`(${tokensIn(sql`having_all`)})`;
