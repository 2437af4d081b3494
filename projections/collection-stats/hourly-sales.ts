import { type RawBuilder, sql } from "kysely";
import type { Session } from "../database.ts";
import { holdsAny } from "../engine/fact-window.ts";
import type { FactWindow, WindowWithKinds } from "../engine/projection.ts";
import { saleKinds } from "../exchanges/sale-fact-kinds.ts";
import { kindList, kindLiteral } from "../log/fact-kind-sql.ts";
import { changedTransactions } from "../sql/changed-transactions.ts";
import { maxPriceAge, priceAt } from "../sql/coin-price.ts";
import { isPaidNatively, nativeCoins } from "../sql/native-coin.ts";
import { columnsOf, hoursOf, periods, salesColumn, salesFigures } from "./periods.ts";

const orderKinds = ["order_fulfilled", "orders_matched"] as const;
const isOrder = sql`kind in ${kindList(...orderKinds)} and log_index is not null`;

const hourOf = (time: RawBuilder<unknown>) => sql`date_trunc('hour', ${time}, 'UTC')`;

/** SQL: joins the coin's price at the time of sale `s`, `p.price_e8`, looked up once though used twice. */
const withPrice = sql`
  left join ${nativeCoins} on native.chain_id = s.chain_id and ${isPaidNatively}
  cross join lateral (select ${priceAt(sql`native.coin`, sql`s.timestamp`)} as price_e8 offset 0) p`;

const hourAggregates = sql`
  min(s.block_id) as first_block_id, max(s.block_id) as last_block_id, max(s.timestamp) as last_at,
  count(*)::numeric as sales, coalesce(sum(s.total_wei) filter (where native.coin is not null), 0) as wei,
  count(p.price_e8)::numeric as priced, coalesce(sum(div(s.total_wei * p.price_e8, 1000000000000000000)), 0) as usd_e8`;

/** Derives the hours whose sales or prices a window's facts may have changed; `sales` is at the window's end already. */
export async function deriveHourlySales(
  session: Session,
  schema: string,
  window: WindowWithKinds,
): Promise<void> {
  const affected = [
    ...(holdsAny(window.kinds, orderKinds) ? [hoursOfOrders(window)] : []),
    ...(holdsAny(window.kinds, ["exchange_event"]) ? [hoursOfExchangeEvents(schema, window)] : []),
    ...(holdsAny(window.kinds, ["price_ticked"]) ? [hoursOfPrices(schema, window)] : []),
  ];
  if (affected.length === 0) return;
  const hour = sql.table(`${schema}.hourly_sales`);
  const sameHour = sql`h.contract_id = c.contract_id and h.hour = c.hour`;
  await sql`
    with affected as materialized (
      select contract_id, hour, min(chain_id) as chain_id, min(first_block_id) as first_block_id,
             max(last_block_id) as last_block_id
      from (${sql.join(affected, sql` union all `)}) one group by contract_id, hour
    ), changed as materialized (
      select t.contract_id, t.hour, t.chain_id, d.*, o.contract_id is null as is_new,
             ${sql.join(salesFigures.map((figure) => sql`coalesce(o.${sql.ref(figure)}, 0) as ${sql.id(`old_${figure}`)}`))}
      from affected t
      left join ${hour} o using (contract_id, hour)
      cross join lateral (
        select ${hourAggregates} from sales.sale s ${withPrice}
        where s.contract_id = t.contract_id
          and s.block_id >= least(t.first_block_id, o.first_block_id)
          and s.block_id <= greatest(t.last_block_id, o.last_block_id)
          and s.timestamp >= t.hour and s.timestamp < t.hour + interval '1 hour'
      ) d
    ), removed as (
      delete from ${hour} h using changed c where c.sales = 0 and ${sameHour}
    ), updated as (
      update ${hour} h set (${hourValues}) = (select ${hourValuesOf("c")})
      from changed c where c.sales > 0 and not c.is_new and ${sameHour}
    ), inserted as (
      insert into ${hour} (contract_id, hour, chain_id, ${hourValues})
      select contract_id, hour, chain_id, ${hourValues} from changed where is_new and sales > 0
    )
    insert into pg_temp.figure_delta (contract_id, ${tradedNames})
    select c.contract_id, ${sql.join(figureDeltas)}
    from changed c left join ${sql.table(`${schema}.snapshot_clock`)} k on k.chain_id = c.chain_id
    group by c.contract_id`.execute(session);
}

const valueNames = ["first_block_id", "last_block_id", "last_at", ...salesFigures];
const hourValues = sql.join(valueNames.map((name) => sql.id(name)));
const hourValuesOf = (alias: string) =>
  sql.join(valueNames.map((name) => sql.ref(`${alias}.${name}`)));
const tradedNames = sql.join(columnsOf(salesFigures).map((column) => sql.id(column)));

/** SQL: differences made by changed hours `c`, by the clock `k`, in the order of `columnsOf`. */
const figureDeltas = salesFigures.flatMap((figure) =>
  ([...periods, "all"] as const).map((period) => {
    const delta = sql`sum(c.${sql.ref(figure)} - c.${sql.ref(`old_${figure}`)})`;
    if (period === "all") return delta;
    return sql`coalesce(${delta} filter (where c.hour > ${hourOf(sql`k.snapshot_at`)} - ${hoursOf(period)}), 0)`;
  }),
);

/**
 * SQL: contracts named by the orders of affected transactions, with the hour of the block: any of them may have been
 * sold. A block's facts are read once, however many of its transactions are affected.
 */
const hoursOfOrders = (window: FactWindow) => sql`
  select k.contract_id, ${hourOf(sql`b.timestamp`)} as hour, b.chain_id, f.block_id as first_block_id,
         f.block_id as last_block_id
  from (${changedTransactions(window.changes, isOrder)}) changed
  cross join lateral (
    select f.block_id, f.payload from ${window.facts} f
    where f.block_id = changed.block_id and f.log_index is not null and f.kind = ${kindLiteral("order_fulfilled")}
      and f.transaction_index = any (changed.transaction_indexes)
    offset 0
  ) f
  cross join lateral (select chain_id, timestamp from log.block b where b.block_id = f.block_id offset 0) b
  cross join lateral jsonb_array_elements((f.payload -> 'offer') || (f.payload -> 'consideration')) item
  cross join lateral (select decode(substr(item ->> 'token', 3), 'hex') as address) named
  left join log.contract_alias a on a.chain_id = b.chain_id and a.address = named.address
  cross join lateral (
    select k.contract_id from log.contract k
    where k.chain_id = b.chain_id and k.address = coalesce(a.stands_for, named.address) offset 0
  ) k
  where (item ->> 'itemType')::int >= 2`;

/**
 * Of events whose contracts only their exchange's translation knows: contracts sold in their transactions, and, where a
 * transaction had sales before, contracts whose sales of that hour may have been in the block. A block's facts are read
 * once, and most transactions are new: the hours that a block may have been in are hundreds.
 */
function hoursOfExchangeEvents(schema: string, window: FactWindow): RawBuilder<unknown> {
  const isEvent = sql`kind = ${kindLiteral("exchange_event")} and log_index is not null`;
  const changed = changedTransactions(window.changes, isEvent);
  return sql`
    select one.contract_id, ${hourOf(sql`b.timestamp`)} as hour, b.chain_id, b.block_id as first_block_id,
           b.block_id as last_block_id
    from (
      select t.block_id, s.contract_id
      from (${changed}) t
      cross join lateral unnest(t.transaction_indexes) as one (transaction_index)
      cross join lateral (
        select s.contract_id from sales.sale s
        where s.block_id = t.block_id and s.transaction_index = one.transaction_index
        offset 0
      ) s
      union
      select earlier.block_id, h.contract_id
      from (
        select t.block_id
        from (${changed}) t
        cross join lateral (
          select from ${window.facts} f
          where f.block_id = t.block_id and f.log_index is not null and f.kind in ${saleKinds}
            and f.position <= ${window.after} and f.transaction_index = any (t.transaction_indexes)
          limit 1
        ) f
      ) earlier
      join log.block b using (block_id)
      join ${sql.table(`${schema}.hourly_sales`)} h
        on h.hour = ${hourOf(sql`b.timestamp`)} and h.chain_id = b.chain_id
           and b.block_id between h.first_block_id and h.last_block_id
    ) one
    join log.block b using (block_id)`;
}

/** SQL: hours with sales whose price may be the new one. */
function hoursOfPrices(schema: string, window: FactWindow): RawBuilder<unknown> {
  return sql`
    select h.contract_id, h.hour, h.chain_id, h.first_block_id, h.last_block_id
    from (
      select native.chain_id, c.recorded_at as minute from ${window.changes} c
      join ${nativeCoins} on native.coin = c.payload ->> 'type' where c.kind = ${kindLiteral("price_ticked")}
    ) tick
    join ${sql.table(`${schema}.hourly_sales`)} h
      on h.chain_id = tick.chain_id and h.hour >= ${hourOf(sql`tick.minute`)} and h.hour <= tick.minute + ${sql.raw(maxPriceAge)}
         and h.last_at >= tick.minute`;
}

/** The same for all sales, into empty tables. */
export async function deriveAllHourlySales(session: Session, schema: string): Promise<void> {
  const hour = sql.table(`${schema}.hourly_sales`);
  await sql`
    insert into ${hour} (contract_id, hour, chain_id, ${hourValues})
    select contract_id, hour, chain_id, ${hourValues}
    from (
      select s.contract_id, ${hourOf(sql`s.timestamp`)} as hour, s.chain_id, ${hourAggregates}
      from sales.sale s ${withPrice} group by 1, 2, 3
    ) d`.execute(session);
  const all = salesFigures.map((figure) => salesColumn(figure, "all"));
  await sql`
    insert into pg_temp.figure_delta (contract_id, ${sql.join(all.map((column) => sql.id(column)))})
    select contract_id, ${sql.join(salesFigures.map((figure) => sql`sum(${sql.id(figure)})`))}
    from ${hour} group by contract_id`.execute(session);
}
