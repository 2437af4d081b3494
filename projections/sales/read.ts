import { type RawBuilder, sql } from "kysely";
import type { Database } from "../database.ts";
import { blockIdRange } from "../log/block-id.ts";
import { naming, type SaleRow, saleColumns } from "./shown.ts";

/** Place of a sale in the order of its chain. */
export type SaleKey = { blockId: bigint; transactionIndex: number; ordinal: number };

export type SalesFilter = {
  chainId: number;
  /** null: the whole chain. */
  contractIds: readonly number[] | null;
  /** Only together with contracts. */
  tokenId: bigint | null;
  /** Keys of each trait that the token must have, any of them; only together with contracts. */
  traitKeys: readonly (readonly string[])[];
};

type Slice = { limit: number; offset: number; after: SaleKey | null };

/** Sales newest first, and how many the filter matches, of one moment. */
export async function readSales(
  db: Database,
  filter: SalesFilter,
  slice: Slice,
): Promise<{ total: bigint; rows: SaleRow[] }> {
  const { rows } = await sql<SaleRow & { total: bigint; blockId: bigint | null }>`
    with chosen as materialized (${tokensOf(filter)}),
    counted as (${countOf(filter)}),
    page as (${pageOf(filter, slice)})
    select counted.total,
           ${saleColumns}
    from counted left join page s on true ${naming}
    order by s.block_id desc, s.transaction_index desc, s.ordinal desc`.execute(db);
  return { total: rows[0]?.total ?? 0n, rows: rows.filter((row) => row.blockId !== null) };
}

const newestFirst = sql`order by s.block_id desc, s.transaction_index desc, s.ordinal desc`;

function pageOf(filter: SalesFilter, slice: Slice): RawBuilder<unknown> {
  const { chainId, contractIds, tokenId } = filter;
  const { limit, offset, after } = slice;
  const older = olderThan(after);
  if (filter.traitKeys.length > 0) return pageOfTraits(filter, slice);
  if (contractIds === null) {
    const chain = blockIdRange(chainId);
    // A second upper bound beside the cursor's would make the index scan start there and walk the whole depth.
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
    from unnest(${contractIds}::int[]) wanted (contract_id)
    cross join lateral (
      select s.* from sales.sale s
      where s.contract_id = wanted.contract_id ${ofToken} ${older}
      ${newestFirst} limit ${limit + offset}
    ) s
    ${newestFirst} limit ${limit} offset ${offset}`;
}

function olderThan(after: SaleKey | null): RawBuilder<unknown> {
  if (after === null) return sql``;
  return sql`
    and (s.block_id, s.transaction_index, s.ordinal)
        < (${after.blockId}, ${after.transactionIndex}, ${after.ordinal})`;
}

/** The tokens with all the traits, whose keys are their contracts' own. Without traits it is empty and not read. */
function tokensOf({ tokenId, traitKeys }: SalesFilter): RawBuilder<unknown> {
  const ofToken = tokenId === null ? sql`` : sql`and t.token_id = ${tokenId}`;
  const tokens = sql`select t.contract_id, t.token_id from traits.token t`;
  if (traitKeys.length === 0) return sql`${tokens} where false`;
  return sql`${tokens} where ${hasAll(traitKeys)} ${ofToken}`;
}

function hasAll(traitKeys: SalesFilter["traitKeys"]): RawBuilder<unknown> {
  return sql.join(
    traitKeys.map((keys) => sql`t.trait_keys && ${keys}::uuid[]`),
    sql` and `,
  );
}

/**
 * Of few tokens the newest sales of each are sorted. Of many, a walk over all sales of the contracts meets enough of
 * theirs sooner.
 */
function pageOfTraits(filter: SalesFilter, { limit, offset, after }: Slice): RawBuilder<unknown> {
  const { contractIds, tokenId, traitKeys } = filter;
  const ofToken = tokenId === null ? sql`` : sql`and s.token_id = ${tokenId}`;
  const wanted = sql`${limit + offset}::bigint`;
  const isFew = sql`(
    select (select count(*) from chosen) ^ 2 <= ${wanted} * coalesce(sum(tokens), 0)
    from traits.contract where contract_id = any (${contractIds}::int[])
  )`;
  return sql`
    select * from (
      select s.* from (
        select s.* from chosen cross join lateral (
          select s.* from sales.sale s
          where s.contract_id = chosen.contract_id and s.token_id = chosen.token_id ${olderThan(after)}
          ${newestFirst} limit ${wanted}
        ) s
      ) s where ${isFew}
      union all
      select s.* from (
        select s.* from unnest(${contractIds}::int[]) wanted (contract_id)
        cross join lateral (
          select s.* from sales.sale s
          where s.contract_id = wanted.contract_id ${ofToken} ${olderThan(after)} and exists (
            select from traits.token t
            where t.contract_id = s.contract_id and t.token_id = s.token_id and ${hasAll(traitKeys)} offset 0
          )
          ${newestFirst} limit ${wanted}
        ) s
      ) s where not ${isFew}
    ) s
    ${newestFirst} limit ${limit} offset ${offset}`;
}

function countOf({ chainId, contractIds, tokenId, traitKeys }: SalesFilter): RawBuilder<unknown> {
  if (traitKeys.length > 0) {
    return sql`
      select count(*) as total from chosen join sales.sale s using (contract_id, token_id)`;
  }
  if (tokenId !== null) {
    return sql`
      select count(*) as total from sales.sale
      where contract_id = any (${contractIds}::int[]) and token_id = ${tokenId}`;
  }
  return sql`
    select coalesce(sum(sales), 0)::bigint as total from sales.total
    where chain_id = ${chainId} and contract_id = any (${contractIds ?? [0]}::int[])`;
}
