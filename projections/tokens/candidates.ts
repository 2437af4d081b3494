import { type RawBuilder, sql } from "kysely";
import { tokensIn } from "../token-bits.ts";
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
  const areFew = sql`(
    select ids * ids <= ${walkLength[sort]} * ${limit} * tokens from totals
  )`;
  return [
    { source: "having", when: areFew },
    { source: "walk", when: sql`not ${areFew}` },
  ];
}

/**
 * How long a walk to a page is for what it costs to sort the ids instead. By rank tokens with common traits come late; a
 * price has to be looked up before it can be sorted by.
 */
const walkLength = {
  token_id: sql.lit(3),
  price_asc: sql.lit(1),
  price_desc: sql.lit(1),
  recently_listed: sql.lit(1),
  rarity: sql.lit(9),
};

/** Rows `(contract_id, token_id)` of the ids with the traits; not each is a token of the chain. */
export const idsHaving = sql`(${tokensIn(sql`having_all`)})`;
