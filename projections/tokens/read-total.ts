import { sql } from "kysely";
import type { Session } from "../database.ts";
import { chosenTokens, isNarrow, type TokensFilter } from "./filter.ts";
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
    chosen as materialized (${chosenTokens(filter)})
    select coalesce((select sum(tokens) from ownership.collection where ${family}), 0)::bigint as tokens,
           coalesce((select sum(listed) from traits.contract where ${family}), 0)::bigint
           - (select count(*) from traits.listed l join ended using (contract_id, token_id) where l.${family})
           + (select count(*) from relisted where ${family}) as listed,
           (select count(*) from chosen t
            ${listed === null ? sql`` : sql`where ${isListed} = ${listed}`}) as chosen`.execute(
    session,
  );
  const counted = rows[0] ?? { tokens: 0n, listed: 0n, chosen: 0n };
  return { ...counted, matching: matchingOf(filter, counted) };
}

function matchingOf(
  filter: TokensFilter,
  { tokens, listed, chosen }: { tokens: bigint; listed: bigint; chosen: bigint },
): bigint {
  if (isNarrow(filter)) return chosen;
  if (filter.listed === null) return tokens;
  return filter.listed ? listed : tokens - listed;
}
