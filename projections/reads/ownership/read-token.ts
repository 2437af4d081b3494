import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "#projections/log/database.ts";
import { isBurnAddress } from "#projections/log/sql-values.ts";
import { tokensAt } from "#projections/engine/token-ids.ts";

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
