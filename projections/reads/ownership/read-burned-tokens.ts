import { sql } from "kysely";
import type { Address } from "viem";
import type { Database } from "#projections/log/database.ts";
import { tokensAt } from "#projections/engine/token-ids.ts";

export type TokenKey = { contract: Address; tokenId: bigint };

/** Whether a token is one of a set, by contract (lower case) and id. */
export type TokenSet = { has(token: TokenKey): boolean };

/** Those of the chain's ERC-721 `tokens` (contracts in lower case) that their last transfer burned. */
export async function readBurnedTokens(
  db: Database,
  chainId: number,
  tokens: readonly TokenKey[],
): Promise<TokenSet> {
  const burned = new Set(tokens.length === 0 ? [] : await readKeys(db, chainId, tokens));
  return { has: (token) => burned.has(keyOf(token)) };
}

const keyOf = ({ contract, tokenId }: TokenKey) => `${contract} ${tokenId}`;

async function readKeys(
  db: Database,
  chainId: number,
  tokens: readonly TokenKey[],
): Promise<string[]> {
  const { rows } = await sql<TokenKey>`
    select k.address as contract, t.token_id as "tokenId"
    from unnest(${tokens.map(({ contract }) => contract.slice(2))}::text[],
                ${tokens.map(({ tokenId }) => tokenId.toString())}::numeric[]) requested (digits, token_id)
    join log.contract k on k.chain_id = ${chainId} and k.address = decode(requested.digits, 'hex')
    cross join lateral ${tokensAt(sql`k.contract_id`, sql`requested.token_id`)} t
    where t.standard = 721 and t.is_burned`.execute(db);
  return rows.map(keyOf);
}
