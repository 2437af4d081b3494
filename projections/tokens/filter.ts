import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import { tokensIn } from "../token-bits.ts";
import type { TokenPlace } from "../token-place.ts";
import { chunksHaving, hasAll, type TraitKeys } from "../traits/having.ts";

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
  /** The whole family. */
  contractIds: readonly number[];
  /** null: any. */
  listed: boolean | null;
  tokenIds: readonly bigint[] | null;
  /** Of ERC-721 tokens. */
  owner: Hex | null;
  /** Keys of each trait that the token must have, any of them; absent: whatever its traits. */
  traitKeys?: TraitKeys;
};

/** Which token; an id may be of both standards in one contract. */
export type StandardToken = TokenPlace & { standard: 721 | 1155 };

/**
 * Place in a sorted list: those that have what is sorted by come first (part 0), the others by id. `value` is wei,
 * microseconds or a rank.
 */
export type TokenKey = StandardToken & { part: number; value: bigint };

/** Whether tokens are named one by one or by their owner: few of them, which are looked up first. */
export function isNamed({ tokenIds, owner }: TokensFilter): boolean {
  return tokenIds !== null || owner !== null;
}

/** Whether traits alone tell which tokens are asked for. */
export function isOfTraits(filter: TokensFilter): boolean {
  return !isNamed(filter) && (filter.traitKeys ?? []).length > 0;
}

/** Whether the tokens of a filter are looked up first, or met on a walk over the list. */
export type PlannedFilter = TokensFilter & { isNarrow: boolean };

/**
 * Of many tokens with the traits, a walk that looks at each token's traits meets a page of them sooner than all are
 * sorted. Not by rank: those with common traits come last.
 */
export function planned(
  filter: TokensFilter,
  sort: TokenSort,
  { matching, tokens }: { matching: bigint; tokens: bigint },
): PlannedFilter {
  const areFew = sort === "rarity" || matching * matching <= 25n * tokens;
  return { ...filter, isNarrow: isNamed(filter) || (isOfTraits(filter) && areFew) };
}

/** Whether the token of a row has the traits, where a walk meets it. */
export function fitsTraits(filter: PlannedFilter, row: "t" | "l"): RawBuilder<unknown> {
  return hasAll(row, filter.isNarrow ? [] : (filter.traitKeys ?? []));
}

/** The tokens that a filter names or whose traits it tells, listed or not. */
export function chosenTokens(filter: TokensFilter): RawBuilder<unknown> {
  const { contractIds, tokenIds, owner, traitKeys = [] } = filter;
  if (isOfTraits(filter)) {
    return sql`
      select t.contract_id, t.token_id, t.standard
      from (${tokensIn(sql`(${chunksHaving(contractIds, traitKeys)}) having_all`)}) h
      cross join lateral (
        select * from ownership.token t where t.contract_id = h.contract_id and t.token_id = h.token_id offset 0
      ) t`;
  }
  const ofIds =
    tokenIds === null ? sql`` : sql`and t.token_id = any (${tokenIds.map(String)}::numeric[])`;
  const ofOwner =
    owner === null
      ? sql``
      : sql`and t.owner = decode(${owner.slice(2)}, 'hex') and t.standard = 721`;
  return sql`
    select t.contract_id, t.token_id, t.standard from ownership.token t
    where t.contract_id = any (${contractIds}::int[]) and ${isNamed(filter) ? sql`true` : sql`false`}
      ${ofIds} ${ofOwner} and ${hasAll("t", traitKeys)}`;
}
