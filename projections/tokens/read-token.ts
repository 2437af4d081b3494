import { sql } from "kysely";
import type { Address, Hex } from "viem";
import { tokensAt } from "../engine/token-ids.ts";
import type { Database } from "../log/database.ts";
import { isBurnAddress } from "../log/sql-values.ts";

/** A token, derived from its transfers. `supply` is units not burned. */
export type TokenRow = {
  contractId: number;
  contract: Hex;
  tokenId: bigint;
  standard: 721 | 1155;
  owner: Hex | null;
  supply: bigint;
  isBurned: boolean;
  /** Addresses that hold units, without burn addresses. */
  holders: bigint;
};

/**
 * Whether somebody could sell the token. An ERC-1155 id of which no unit was ever moved is not burned, but nobody holds it;
 * a supply below zero says that units came from before the first recorded block.
 */
export const isSellable = ({
  isBurned,
  supply,
  holders,
}: Pick<TokenRow, "isBurned" | "supply" | "holders">): boolean =>
  !isBurned && (supply !== 0n || holders > 0n);

/** How many addresses hold units of token `t`. */
export const holdersOf = sql`
  case when t.standard = 721 then (not t.is_burned)::int::bigint else (
    select count(*) from ownership.balance b
    where b.contract_id = t.contract_id and b.token_id = t.token_id and b.units > 0
      and not ${isBurnAddress(sql`b.owner`)}
  ) end`;

/** The token with an id in the first contract that has it unburned, else in the first contract that has it. */
export async function readToken(
  db: Database,
  contractIds: readonly number[],
  tokenId: bigint,
): Promise<TokenRow | null> {
  const { rows } = await sql<TokenRow>`
    select t.contract_id as "contractId", k.address as contract, t.token_id as "tokenId", t.standard, t.owner,
           t.supply, t.is_burned as "isBurned",
           ${holdersOf} as holders
    from unnest(${contractIds}::int[]) one (contract_id)
    join log.contract k using (contract_id)
    cross join lateral ${tokensAt(sql`one.contract_id`, sql`${tokenId}::numeric`)} t
    order by t.is_burned, array_position(${contractIds}::int[], t.contract_id)
    limit 1`.execute(db);
  return rows[0] ?? null;
}

export type TokenOfContract = { contract: Address; tokenId: bigint };

/** Whether a token is one of a set, by contract (lower case) and id. */
export type TokenSet = { has(token: TokenOfContract): boolean };

/** Those of the chain's ERC-721 `tokens` (contracts in lower case) that their last transfer burned. */
export async function readBurnedTokens(
  db: Database,
  chainId: number,
  tokens: readonly TokenOfContract[],
): Promise<TokenSet> {
  const burned = new Set(tokens.length === 0 ? [] : await readKeys(db, chainId, tokens));
  return { has: (token) => burned.has(keyOf(token)) };
}

const keyOf = ({ contract, tokenId }: TokenOfContract) => `${contract} ${tokenId}`;

async function readKeys(
  db: Database,
  chainId: number,
  tokens: readonly TokenOfContract[],
): Promise<string[]> {
  const { rows } = await sql<TokenOfContract>`
    select k.address as contract, t.token_id as "tokenId"
    from unnest(${tokens.map(({ contract }) => contract.slice(2))}::text[],
                ${tokens.map(({ tokenId }) => tokenId.toString())}::numeric[]) requested (digits, token_id)
    join log.contract k on k.chain_id = ${chainId} and k.address = decode(requested.digits, 'hex')
    cross join lateral ${tokensAt(sql`k.contract_id`, sql`requested.token_id`)} t
    where t.standard = 721 and t.is_burned`.execute(db);
  return rows.map(keyOf);
}

/**
 * The lowest token id not burned of each of the chain's `contracts` (lower case): the sample token for contract calls
 * that need a token id. Contracts without one are omitted.
 */
export async function readReferenceTokens(
  db: Database,
  chainId: number,
  contracts: readonly Address[],
): Promise<Map<Address, bigint>> {
  if (contracts.length === 0) return new Map();
  const addresses = [...new Set(contracts)].map((address) => address.slice(2));
  const { rows } = await sql<{ contract: Address; tokenId: bigint }>`
    select k.address as contract, lowest.token_id as "tokenId"
    from log.contract k
    cross join lateral (
      (select t.token_id from ownership.token t
       where t.contract_id = k.contract_id and not t.is_burned
       order by t.token_id limit 1)
      union all
      (select r.first_id from ownership.token_range r
       where r.contract_id = k.contract_id and not r.is_burned
       order by r.first_id limit 1)
      order by 1 limit 1
    ) lowest
    where k.chain_id = ${chainId}
      and k.address in (select decode(digits, 'hex') from unnest(${addresses}::text[]) digits)`.execute(
    db,
  );
  return new Map(rows.map(({ contract, tokenId }) => [contract, tokenId]));
}
