import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import { anyValue } from "../../sql/any-value.ts";
import type { TokenPlace } from "../../sql/token-place.ts";
import { hasAll, isInRun, type TraitKeys } from "../traits/having.ts";

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

/** The contracts of the list, for `any`. */
export function familyOf({ contractIds }: TokensFilter): RawBuilder<unknown> {
  return sql`${anyValue(contractIds, "int[]")}::int[]`;
}

/** Whether the token of a row has the traits, where a walk meets it; `known`: how many of the first it is known to have. */
export function fitsTraits(
  filter: TokensFilter,
  row: "t" | "l" | "r",
  known = 0,
): RawBuilder<unknown> {
  const others = (filter.traitKeys ?? []).slice(known);
  if (!isOfTraits(filter) || others.length === 0) return sql`true`;
  return sql`
    case when (select are_near from totals) then ${isInRun(row, filter.contractIds)} else ${hasAll(row, others)} end`;
}

/** Rows `(contract_id, token_id, standard)` of the tokens that a filter names, listed or not. */
export function chosenTokens(filter: TokensFilter): RawBuilder<unknown> {
  const { tokenIds, owner, traitKeys = [] } = filter;
  if (!isNamed(filter)) {
    return sql`select 0 as contract_id, 0::numeric as token_id, 0::smallint as standard where false`;
  }
  const ofIds =
    tokenIds === null
      ? sql``
      : sql`and t.token_id = any (${anyValue(tokenIds.map(String), "numeric[]")}::numeric[])`;
  const ofOwner =
    owner === null
      ? sql``
      : sql`and t.owner = decode(${anyValue(owner.slice(2), "text")}, 'hex') and t.standard = 721`;
  return sql`
    select t.contract_id, t.token_id, t.standard from ownership.token t
    where t.contract_id = any (${familyOf(filter)}) ${ofIds} ${ofOwner} and ${hasAll("t", traitKeys)}`;
}
