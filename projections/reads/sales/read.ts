import { type RawBuilder, sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import { countOf, matchesSale, sidesOf } from "./count-sales.ts";
import { newestFirst, newestFirstOfFew, olderInChain, olderThan, type SaleKey } from "./order.ts";
import { type SaleParts, type SaleRow, saleColumns, saleNames } from "./sale-columns.ts";
import type { SalesFilter } from "./sales-filter.ts";
import { blocksWithin, isWithin, namesParty, type TradeFilter } from "./trade-filter.ts";
import { salesWithTraits } from "./with-traits.ts";

type Slice = { limit: number; offset: number; after: SaleKey | null };

/** Sales newest first, and how many the filter matches, of one snapshot. */
export async function readSales(
  db: Database,
  filter: SalesFilter,
  slice: Slice,
  parts?: SaleParts,
): Promise<{ total: bigint; rows: SaleRow[] }> {
  const { rows } = await sql<SaleRow & { total: bigint; blockId: bigint | null }>`
    with ${matching(filter, slice)}
    select counted.total,
           ${saleColumns(parts)}
    from counted left join page s on true ${saleNames}
    order by s.block_id desc, s.transaction_index desc, s.ordinal desc`.execute(db);
  return { total: rows[0]?.total ?? 0n, rows: rows.filter((row) => row.blockId !== null) };
}

/** CTEs `counted` (total) and `page` (rows of sales.sale). When nothing matches the page is not read. */
function matching(filter: SalesFilter, slice: Slice): RawBuilder<unknown> {
  if (filter.traits.length > 0) return salesWithTraits(filter, slice);
  return sql`counted as materialized (${countOf(filter)}), page as (${pageOf(filter, slice)})`;
}

function pageOf(filter: SalesFilter, slice: Slice): RawBuilder<unknown> {
  const { contractIds, trade } = filter;
  const { limit, offset, after } = slice;
  const matches = sql`
    ${matchesSale({ ...filter, contractIds: null })} and ${isWithin(trade)}
    and ${blocksWithin(filter.chainId, trade, after !== null)} and (select total from counted) > 0`;
  const order = namesFew(filter) ? newestFirstOfFew : newestFirst;
  const first = (where: RawBuilder<unknown>) => sql`
    select s.* from sales.sale s where ${where} and ${matches} ${order} limit ${limit + offset}`;
  const page = sql`${newestFirst} limit ${limit} offset ${offset}`;
  if (namesParty(trade) || contractIds === null) {
    const ofContracts =
      contractIds === null ? sql`` : sql`and s.contract_id = any (${contractIds}::int[])`;
    const where = sql`${olderInChain(filter.chainId, after)} ${ofContracts}`;
    if (namesOnlyMarket(filter)) {
      const rows = first(
        sql`s.marketplace = market.marketplace and s.protocol = market.protocol and ${where}`,
      );
      return sql`select s.* from (${marketsOf(trade)}) market cross join lateral (${rows}) s ${page}`;
    }
    const rows = sidesOf(filter, (isSide) => first(sql`${isSide} and ${where}`));
    return sql`select s.* from (${rows}) s ${page}`;
  }
  // Each contract's own index gives its newest; their union is sorted again.
  const rows = first(sql`s.contract_id = one.contract_id ${olderThan(after)}`);
  return sql`
    select s.* from unnest(${contractIds}::int[]) one (contract_id) cross join lateral (${rows}) s ${page}`;
}

/** Whether sales are found by what has few values alone. */
function namesFew({ contractIds, tokenId, trade }: SalesFilter): boolean {
  const isOfFew = [trade.marketplace, trade.protocol, trade.currency].some((one) => one !== null);
  return isOfFew && !namesParty(trade) && contractIds === null && tokenId === null;
}

/** Whether either a marketplace or a protocol alone says which sales: their index is sorted within each pair of both. */
function namesOnlyMarket(filter: SalesFilter): boolean {
  const { marketplace, protocol, currency } = filter.trade;
  return namesFew(filter) && (marketplace === null) !== (protocol === null) && currency === null;
}

/** SQL: pairs of marketplace and protocol that have sales, a look into the index for each: they are few. */
function marketsOf({ marketplace, protocol }: TradeFilter): RawBuilder<unknown> {
  const next = (after: RawBuilder<unknown>) => sql`
    select s.marketplace, s.protocol from sales.sale s
    where ${after} ${marketplace === null ? sql`` : sql`and s.marketplace = ${marketplace}`}
    order by s.marketplace, s.protocol limit 1`;
  return sql`
    with recursive market as (
      (${next(sql`true`)})
      union all
      select n.* from market m
      cross join lateral (${next(sql`(s.marketplace, s.protocol) > (m.marketplace, m.protocol)`)}) n
    )
    select * from market ${protocol === null ? sql`` : sql`where protocol = ${protocol}`}`;
}
