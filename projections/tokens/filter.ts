import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import type { TokenPlace } from "../token-place.ts";

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
  traitKeys?: readonly (readonly string[])[];
};

/** Which token; an id may be of both standards in one contract. */
export type StandardToken = TokenPlace & { standard: 721 | 1155 };

/**
 * Place in a sorted list: those that have what is sorted by come first (part 0), the others by id. `value` is wei,
 * microseconds or a rank.
 */
export type TokenKey = StandardToken & { part: number; value: bigint };

/** Whether few tokens are asked for, which are then looked up first. */
export function isNarrow({ tokenIds, owner, traitKeys = [] }: TokensFilter): boolean {
  return tokenIds !== null || owner !== null || traitKeys.length > 0;
}

/** The tokens that a narrow filter names, listed or not; none of another. */
export function chosenTokens(filter: TokensFilter): RawBuilder<unknown> {
  const { contractIds, tokenIds, owner, traitKeys = [] } = filter;
  const ofIds =
    tokenIds === null ? sql`` : sql`and t.token_id = any (${tokenIds.map(String)}::numeric[])`;
  const ofOwner =
    owner === null
      ? sql``
      : sql`and t.owner = decode(${owner.slice(2)}, 'hex') and t.standard = 721`;
  const hasAll = traitKeys.map((keys) => sql`a.trait_keys && ${keys}::uuid[]`);
  const ofTraits =
    traitKeys.length === 0
      ? sql``
      : sql`join traits.token a using (contract_id, token_id) where ${sql.join(hasAll, sql` and `)}`;
  const chosen = sql`select t.contract_id, t.token_id, t.standard, t.owner from ownership.token t ${ofTraits}`;
  return sql`
    select t.contract_id, t.token_id, t.standard from (${chosen}) t
    where ${isNarrow(filter) ? sql`t.contract_id = any (${contractIds}::int[])` : sql`false`} ${ofIds} ${ofOwner}`;
}
