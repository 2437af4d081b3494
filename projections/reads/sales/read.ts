import { type RawBuilder, sql } from "kysely";
import type { Database } from "../../database.ts";
import { blockIdRange } from "../../log/block-id.ts";
import type { TraitKeys } from "../traits/token-bitmaps.ts";
import { newestFirst, olderThan, type SaleKey } from "./order.ts";
import { type SaleRow, saleColumns, saleNames } from "./sale-columns.ts";
import { salesWithTraits } from "./with-traits.ts";

export type SalesFilter = {
  chainId: number;
  /** null: the whole chain. */
  contractIds: readonly number[] | null;
  /** Only together with contracts. */
  tokenId: bigint | null;
  /** Keys of each trait that the token must have, any of them; only together with contracts. */
  traitKeys: TraitKeys;
};

type Slice = { limit: number; offset: number; after: SaleKey | null };

/** Sales newest first, and how many the filter matches, of one snapshot. */
export async function readSales(
  db: Database,
  filter: SalesFilter,
  slice: Slice,
): Promise<{ total: bigint; rows: SaleRow[] }> {
  const { rows } = await sql<SaleRow & { total: bigint; blockId: bigint | null }>`
    with ${matching(filter, slice)}
    select counted.total,
           ${saleColumns}
    from counted left join page s on true ${saleNames}
    order by s.block_id desc, s.transaction_index desc, s.ordinal desc`.execute(db);
  return { total: rows[0]?.total ?? 0n, rows: rows.filter((row) => row.blockId !== null) };
}

/** CTEs `counted` (total) and `page` (rows of sales.sale). */
function matching(filter: SalesFilter, slice: Slice): RawBuilder<unknown> {
  const { contractIds, traitKeys } = filter;
  if (traitKeys.length > 0) {
    return salesWithTraits({ ...filter, contractIds: contractIds ?? [] }, slice);
  }
  return sql`counted as (${countOf(filter)}), page as (${pageOf(filter, slice)})`;
}

function pageOf(filter: SalesFilter, slice: Slice): RawBuilder<unknown> {
  const { chainId, contractIds, tokenId } = filter;
  const { limit, offset, after } = slice;
  const older = olderThan(after);
  if (contractIds === null) {
    const chain = blockIdRange(chainId);
    // A second upper bound beside the cursor's would make the index scan start there and read all rows up to the cursor.
    const below = after === null ? sql`and s.block_id < ${chain.to}` : older;
    return sql`
      select s.* from sales.sale s
      where s.block_id >= ${chain.from} ${below}
      ${newestFirst} limit ${limit} offset ${offset}`;
  }
  const ofToken = tokenId === null ? sql`` : sql`and s.token_id = ${tokenId}`;
  // Each contract's own index gives its newest; their union is sorted again.
  return sql`
    select s.*
    from unnest(${contractIds}::int[]) one (contract_id)
    cross join lateral (
      select s.* from sales.sale s
      where s.contract_id = one.contract_id ${ofToken} ${older}
      ${newestFirst} limit ${limit + offset}
    ) s
    ${newestFirst} limit ${limit} offset ${offset}`;
}

function countOf({ chainId, contractIds, tokenId }: SalesFilter): RawBuilder<unknown> {
  if (tokenId !== null) {
    return sql`
      select count(*) as total from sales.sale
      where contract_id = any (${contractIds}::int[]) and token_id = ${tokenId}`;
  }
  return sql`
    select coalesce(sum(sales), 0)::bigint as total from sales.total
    where chain_id = ${chainId} and contract_id = any (${contractIds ?? [0]}::int[])`;
}
