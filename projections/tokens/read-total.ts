import { type RawBuilder, sql } from "kysely";
import type { Session } from "../database.ts";
import { chunksHaving } from "../traits/having.ts";
import { chosenTokens, isNamed, isOfTraits, type TokensFilter } from "./filter.ts";
import { isListed, listedNow } from "./listed-now.ts";

/** How many tokens match, and of the whole family how many there are and how many of them are listed. */
export type TokenTotals = { matching: bigint; tokens: bigint; listed: bigint };

export async function countTokens(
  session: Session,
  filter: TokensFilter,
  now: Date,
): Promise<TokenTotals> {
  const { contractIds, listed } = filter;
  const family = sql`contract_id = any (${contractIds}::int[])`;
  const { rows } = await sql<{ tokens: bigint; listed: bigint; chosen: bigint }>`
    with ${listedNow(now)},
    chosen as materialized (${countedTokens(filter)})
    select coalesce((select sum(tokens) from ownership.collection where ${family}), 0)::bigint as tokens,
           coalesce((select sum(listed) from traits.contract where ${family}), 0)::bigint
           - (select count(*) from traits.listed l join ended using (contract_id, token_id) where l.${family})
           + (select count(*) from relisted where ${family}) as listed,
           (select count(*) from chosen t
            ${listed === null ? sql`` : sql`where ${isListed} = ${listed}`}) + ${bitsCounted(filter)} as chosen`.execute(
    session,
  );
  const counted = rows[0] ?? { tokens: 0n, listed: 0n, chosen: 0n };
  return { ...counted, matching: matchingOf(filter, counted) };
}

/** Whether the contract of each id tells its standard, so that the ids with traits are the tokens with them. */
function areSingle({ contractIds }: TokensFilter): RawBuilder<unknown> {
  return sql`(
    select coalesce(bool_and(erc721_tokens in (0, tokens)), true) from ownership.collection
    where contract_id = any (${contractIds}::int[])
  )`;
}

/** Traits alone are counted by bits, where a bit is one token. */
const isOfBits = (filter: TokensFilter): boolean => isOfTraits(filter) && filter.listed === null;

function bitsCounted(filter: TokensFilter): RawBuilder<unknown> {
  if (!isOfBits(filter)) return sql`0`;
  return sql`
    (select coalesce(sum(bit_count(bits)), 0)::bigint
     from (${chunksHaving(filter.contractIds, filter.traitKeys ?? [])}) having_all where ${areSingle(filter)})`;
}

/** The tokens that are counted one by one. */
function countedTokens(filter: TokensFilter): RawBuilder<unknown> {
  const chosen = chosenTokens(filter);
  return isOfBits(filter)
    ? sql`select * from (${chosen}) t where not ${areSingle(filter)}`
    : chosen;
}

function matchingOf(
  filter: TokensFilter,
  { tokens, listed, chosen }: { tokens: bigint; listed: bigint; chosen: bigint },
): bigint {
  if (isNamed(filter) || isOfTraits(filter)) return chosen;
  if (filter.listed === null) return tokens;
  return filter.listed ? listed : tokens - listed;
}
