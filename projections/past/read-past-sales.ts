import { type RawBuilder, sql } from "kysely";
import {
  type CollectionRow,
  type FlatSalesFigures,
  nestSalesFigures,
} from "../collections/read-collection-row.ts";
import {
  hoursOf,
  type Period,
  periods,
  salesColumn,
  salesFigures,
  washFigures,
} from "../collections/read-figures.ts";
import { minuteAggregates, minuteOf, withPrice } from "../collections/sales-figures.ts";
import { assertFoldable, mostFolded } from "../engine/fold-budget.ts";
import { isPaidNatively, nativeCoins } from "../engine/usd.ts";
import type { Database } from "../log/database.ts";
import { type SaleRow, saleColumns, saleNames, type WashRule } from "../sales/read-sale.ts";
import { allWashTrades } from "../sales/wash-trades.ts";
import type { Moment } from "./moment.ts";

/**
 * CTEs `past_sale`, the sales `s` of tokens `of` in blocks up to a moment, and `ruled`, those of them that are wash trades by the
 * others: a later sale flags none.
 */
const pastSales = ({ point }: Moment, of: RawBuilder<unknown>) => sql`
  past_sale as materialized (
    select s.* from ${of} join sales.sale s using (contract_id, token_id)
    where s.block_id < ${point.endId}::bigint limit ${mostFolded + 1}
  ), ${allWashTrades(sql`past_sale`)}`;

/**
 * What contracts sold up to a moment, by minutes as today's periods are: those that end before it are summed as they are kept,
 * and of sales only those of other minutes are read, and of tokens with wash trades today, as fewer sales flag no others. Throws
 * `TooMuchToFold` where these are too many.
 */
export async function readPastSalesFigures(
  db: Database,
  contractIds: readonly number[],
  moment: Moment,
): Promise<CollectionRow["salesFigures"]> {
  const minute = minuteOf(sql`${moment.clock.toISOString()}::timestamptz`);
  const end = sql`${moment.point.endId}::bigint`;
  const ofContracts = sql`contract_id = any (${contractIds}::int[])`;
  const flagged = sql`(select distinct contract_id, token_id from sales.wash_trade where ${ofContracts}) flagged`;
  const figures = sql<FlatSalesFigures & { folded: number }>`
    with ${pastSales(moment, flagged)}, sold_minute as (
      select case when minute >= ${minute} - ${hoursOf("30d")} then minute else '-infinity' end as minute,
             ${keptFigures}, 0 as wash_sales, 0 as wash_wei
      from collection_stats.minute_sales where ${ofContracts} and last_block_id < ${end} group by 1
      union all
      select d.minute, ${figuresRead}, 0, 0
      from collection_stats.minute_sales h
      cross join lateral (
        select h.minute, ${minuteAggregates} from sales.sale s ${withPrice}
        where s.contract_id = h.contract_id and s.block_id >= h.first_block_id and s.block_id < ${end}
          and s.timestamp >= h.minute and s.timestamp < h.minute + interval '1 minute'
      ) d
      where ${ofContracts} and h.first_block_id < ${end} and h.last_block_id >= ${end}
      union all
      select ${minuteOf(sql`s.timestamp`)}, 0, 0, 0, 0, 0, 1,
             case when native.coin is null then 0 else s.total_wei end
      from ruled join past_sale s using (block_id, transaction_index, ordinal)
      left join ${nativeCoins} on native.chain_id = s.chain_id and ${isPaidNatively}
    )
    select (select count(*)::int from past_sale) as folded, ${sumsOf(minute)} from sold_minute m`;
  // By the values of this question: a plan for any reads all of a collection's sales.
  await sql`select set_config('plan_cache_mode', 'force_custom_plan', true)`.execute(db);
  const { rows } = await figures.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error("sums have no row");
  assertFoldable(row.folded);
  return nestSalesFigures(row);
}

const figuresRead = sql.join(salesFigures.map((figure) => sql.ref(`d.${figure}`)));
const keptFigures = sql.join(
  salesFigures.map((figure) => sql`sum(${sql.ref(figure)}) as ${sql.id(figure)}`),
);

/** SQL: each figure over each period that ends with a minute. */
function sumsOf(minute: RawBuilder<unknown>): RawBuilder<unknown> {
  const within = (period: Period | "all") =>
    period === "all" ? sql`true` : sql`m.minute >= ${minute} - ${hoursOf(period)}`;
  return sql.join(
    [...salesFigures, ...washFigures].flatMap((figure) =>
      ([...periods, "all"] as const).map(
        (period) =>
          sql`coalesce(sum(m.${sql.ref(figure)}) filter (where ${within(period)}), 0) as ${sql.id(salesColumn(figure, period))}`,
      ),
    ),
  );
}

/** The last sale of a token up to a moment; null: none. Throws `TooMuchToFold`. */
export async function readPastLastSale(
  db: Database,
  { contractId, tokenId }: { contractId: number; tokenId: bigint },
  moment: Moment,
): Promise<SaleRow | null> {
  const ofToken = sql`(select ${contractId}::int as contract_id, ${String(tokenId)}::numeric as token_id) one`;
  const { rows } = await sql<SaleRow & { ruleThen: WashRule | null; folded: number }>`
    with ${pastSales(moment, ofToken)}
    select ${saleColumns(new Set(["usd"]))}, ruled.rule as "ruleThen",
           (select count(*)::int from past_sale) as folded
    from past_sale s left join ruled using (block_id, transaction_index, ordinal) ${saleNames}
    order by s.block_id desc, s.transaction_index desc, s.ordinal desc limit 1`.execute(db);
  const [row] = rows;
  if (row === undefined) return null;
  const { ruleThen, folded, ...sale } = row;
  assertFoldable(folded);
  return { ...sale, washRule: ruleThen };
}
