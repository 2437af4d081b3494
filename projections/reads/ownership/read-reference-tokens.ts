import { sql } from "kysely";
import type { Address } from "viem";
import type { Database } from "#projections/log/database.ts";

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
