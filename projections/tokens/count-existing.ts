import { sql } from "kysely";
import type { Address } from "viem";
import { rangeAt } from "../engine/token-ids.ts";
import type { Database } from "../log/database.ts";
import { bytea } from "../log/sql-values.ts";

/** How many of a contract's token ids exist: minted, and not burned. */
export async function countExisting(
  db: Database,
  { chainId, contract }: { chainId: number; contract: Address },
  tokenIds: readonly bigint[],
): Promise<number> {
  const { rows } = await sql<{ tokens: number }>`
    with own as materialized (
      select contract_id from log.contract where chain_id = ${chainId} and address = ${bytea(contract)}
    ), wanted as materialized (
      select own.contract_id, id from own, unnest(${tokenIds.map(String)}::numeric[]) id
    )
    select count(*)::int as tokens from wanted
    where exists (
      select from ownership.token t
      where t.contract_id = wanted.contract_id and t.token_id = wanted.id and not t.is_burned offset 0
    ) or exists (
      select from (${rangeAt(sql`wanted.contract_id`, sql`wanted.id`)}) r where not r.is_burned
    )`.execute(db);
  return rows[0]?.tokens ?? 0;
}
