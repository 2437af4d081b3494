import { type RawBuilder, sql } from "kysely";
import { tokensIn } from "#projections/engine/token-ids.ts";
import { isByTraitsOnly, namesTokens, type TokenKey, type TokenSort, type TokensFilter } from "./filter.ts";

/** SQL of the rows after a cursor: at least the first `limit` of each contract. */
export type RowsAfter = (after: TokenKey | null, limit: RawBuilder<unknown>) => RawBuilder<unknown>;

/**
 * Where a list's tokens come from: `scan` reads an index in the list's order, `named` looks up the tokens named by the
 * filter, and `bitmap` takes the ids with the traits from bitmaps and looks them up in order, as far as the page needs.
 */
export type Source = "scan" | "named" | "bitmap";

/** A way to read the rows, used where `when` holds; absent: always. */
export type AccessPath = { source: Source; when?: RawBuilder<unknown> };

/** Where many tokens have the traits, an index scan that checks each token finds a page of them sooner. */
export function accessPaths(
  filter: TokensFilter,
  sort: TokenSort,
  limit: RawBuilder<unknown>,
): AccessPath[] {
  if (namesTokens(filter)) return [{ source: "named" }];
  if (!isByTraitsOnly(filter)) return [{ source: "scan" }];
  const { near, far, tokens } = scanCost[sort];
  const areFew = sql`(
    select ids * ids <= case when are_near then ${near} else ${far} end * ${limit} * ${tokens} from totals
  )`;
  return [
    { source: "bitmap", when: areFew },
    { source: "scan", when: sql`not ${areFew}` },
  ];
}

/**
 * Rows that a scan may read for what sorting the ids costs; `near`: where all bits of a contract are in one string.
 * `tokens`: whether it reads all tokens or those with the rarest trait. By rank, tokens with common traits come late; a
 * price has to be looked up before it can be sorted by.
 */
const byPrice = { near: sql.lit(0.05), far: sql.lit(1), tokens: sql`rarest` };
const scanCost = {
  token_id: { near: sql.lit(0.08), far: sql.lit(3), tokens: sql`tokens` },
  price_asc: byPrice,
  price_desc: byPrice,
  recently_listed: { near: sql.lit(0.08), far: sql.lit(1), tokens: sql`tokens` },
  rarity: { near: sql.lit(0.2), far: sql.lit(9), tokens: sql`tokens` },
};

/** Rows `(contract_id, token_id)` of the ids with the traits; not every id is an existing token. */
export const idsWithTraits = sql`(${tokensIn(sql`trait_chunk`)})`;
