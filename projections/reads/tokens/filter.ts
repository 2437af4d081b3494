import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import { anyValue } from "#projections/log/sql-values.ts";
import type { TokenPlace } from "#projections/engine/token-ids.ts";
import { hasTraits, isInBitRun, type TraitKeys } from "../traits/token-bitmaps.ts";

export const tokenSorts = [
  "token_id",
  "price_asc",
  "price_desc",
  "rarity",
  "recently_listed",
] as const;
export type TokenSort = (typeof tokenSorts)[number];

export type TokensFilter = {
  collectionId: number;
  /** All contracts of the collection. */
  contractIds: readonly number[];
  /** null: any. */
  listed: boolean | null;
  tokenIds: readonly bigint[] | null;
  /** Who holds the token, or units of it. */
  owner: Hex | null;
  /** For each trait that the token must have, its keys, one of which it must have; absent: any traits. */
  traitKeys?: TraitKeys;
};

/** A token with its standard: in one contract an id may exist in both. */
export type StandardToken = TokenPlace & { standard: 721 | 1155 };

/**
 * Position in a sorted list: tokens that have the value sorted by come first (part 0), the others by id (part 1).
 * `value` is wei, microseconds or a rank.
 */
export type TokenKey = StandardToken & { part: number; value: bigint };

/** Whether the filter names tokens by id or owner: they are few and are looked up first. */
export function namesTokens({ tokenIds, owner }: TokensFilter): boolean {
  return tokenIds !== null || owner !== null;
}

/** Whether tokens are filtered by traits and not named. */
export function isByTraitsOnly(filter: TokensFilter): boolean {
  return !namesTokens(filter) && (filter.traitKeys ?? []).length > 0;
}

/** SQL: the contracts' ids, for `any`. */
export function contractsOf({ contractIds }: TokensFilter): RawBuilder<unknown> {
  return sql`${anyValue(contractIds, "int[]")}::int[]`;
}

/** SQL: whether the token of a scanned row has the traits, apart from the first `known` ones. */
export function matchesTraits(
  filter: TokensFilter,
  row: "t" | "l" | "r",
  known = 0,
): RawBuilder<unknown> {
  const others = (filter.traitKeys ?? []).slice(known);
  if (!isByTraitsOnly(filter) || others.length === 0) return sql`true`;
  return sql`
    case when (select are_near from totals) then ${isInBitRun(row, filter.contractIds)} else ${hasTraits(row, others)} end`;
}
