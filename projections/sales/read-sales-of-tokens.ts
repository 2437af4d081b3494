import { sql } from "kysely";
import type { Database } from "../log/database.ts";

type Places = readonly { readonly contractId: number; readonly tokenId: bigint }[];

/** How often each of some tokens was sold in the blocks with ids from one on, before another; in their order. */
export async function readSalesOfTokens(
  db: Database,
  places: Places,
  blocks: { readonly first: bigint; readonly end: bigint },
): Promise<number[]> {
  const { rows } = await sql<{ sales: number }>`
    select (
      select count(*)::int from sales.sale s
      where s.contract_id = p.contract_id and s.token_id = p.token_id
        and s.block_id >= ${blocks.first}::bigint and s.block_id < ${blocks.end}::bigint
    ) as sales
    from unnest(${places.map(({ contractId }) => contractId)}::int[], ${places.map(({ tokenId }) => `${tokenId}`)}::numeric[])
      with ordinality p (contract_id, token_id, place)
    order by place`.execute(db);
  return rows.map(({ sales }) => sales);
}
