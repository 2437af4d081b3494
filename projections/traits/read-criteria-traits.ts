import { sql } from "kysely";
import type { Address } from "viem";
import type { CriteriaTrait } from "../domain/orders/order-terms.ts";
import { tokensIn } from "../engine/token-ids.ts";
import { chunksOfTraits } from "../engine/trait-keys.ts";
import type { Database } from "../log/database.ts";
import { bytea } from "../log/sql-values.ts";

/** The first `limit` token ids of a contract that have all the traits and are not burned, by id. */
export async function readTokensOfTraits(
  db: Database,
  { chainId, contract }: { chainId: number; contract: Address },
  traits: readonly CriteriaTrait[],
  limit: number,
): Promise<bigint[]> {
  const asked = sql`${JSON.stringify(traits)}::jsonb`;
  const { rows } = await sql<{ tokenId: bigint }>`
    with own as materialized (
      select contract_id from log.contract where chain_id = ${chainId} and address = ${bytea(contract)}
    ), chosen as materialized (
      select c.* from own cross join lateral (${chunksOfTraits(sql`own.contract_id`, asked)}) c
    )
    select i.token_id as "tokenId" from (${tokensIn(sql`chosen`)}) i
    join traits.token t on t.contract_id = i.contract_id and t.token_id = i.token_id
    where t.is_live order by i.token_id limit ${limit}`.execute(db);
  return rows.map(({ tokenId }) => tokenId);
}
