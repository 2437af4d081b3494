import { type RawBuilder, sql } from "kysely";
import { holdsAny } from "../engine/fact-window.ts";
import type { FactWindow, WindowWithKinds } from "../engine/projection.ts";
import { isPaidNatively, maxPriceAge, nativeCoins, priceAt } from "../engine/usd.ts";
import {
  changedSaleTransactions,
  changedTransactions,
  saleFactKinds,
  saleKinds,
} from "../exchanges/exchanges.ts";
import type { Session } from "../log/database.ts";
import { kindList, kindLiteral } from "../log/fact-kinds.ts";
import {
  columnsOf,
  hoursOf,
  periods,
  salesColumn,
  salesFigures,
  washFigures,
} from "./read-figures.ts";

const orderKinds = ["order_fulfilled", "orders_matched"] as const;
const isOrder = sql`kind in ${kindList(...orderKinds)} and log_index is not null`;

/** SQL: the full minute of a time. */
export const minuteOf = (time: RawBuilder<unknown>) => sql`date_trunc('minute', ${time}, 'UTC')`;

/** SQL: joins the coin's price at the time of sale `s`, `p.price_e8`, looked up once though used twice. */
export const withPrice = sql`
  left join ${nativeCoins} on native.chain_id = s.chain_id and ${isPaidNatively}
  cross join lateral (select ${priceAt(sql`native.coin`, sql`s.timestamp`)} as price_e8 offset 0) p`;

/** SQL: what is counted of sales `s` of a minute, with `withPrice`. */
export const minuteAggregates = sql`
  min(s.block_id) as first_block_id, max(s.block_id) as last_block_id, max(s.timestamp) as last_at,
  count(*)::numeric as sales, coalesce(sum(s.total_wei) filter (where native.coin is not null), 0) as wei,
  coalesce(sum(s.total_wei) filter (where p.price_e8 is not null), 0) as priced_wei,
  count(*) filter (where p.price_e8 is null and s.total_wei > 0)::numeric as unpriced_sales, coalesce(sum(div(s.total_wei * p.price_e8, 1000000000000000000)), 0) as usd_e8`;

/** Derives the minutes whose sales or prices a window's facts may have changed; `sales` is at the window's end already. */
export async function deriveMinuteSales(
  session: Session,
  schema: string,
  window: WindowWithKinds,
): Promise<void> {
  const affected = [
    ...(holdsAny(window.kinds, orderKinds) ? [minutesOfOrders(window)] : []),
    ...(holdsAny(window.kinds, ["exchange_event"])
      ? [minutesOfExchangeEvents(schema, window)]
      : []),
    ...(holdsAny(window.kinds, ["price_ticked"]) ? [minutesOfPrices(schema, window)] : []),
  ];
  if (affected.length === 0) return;
  const minute = sql.table(`${schema}.minute_sales`);
  const sameMinute = sql`h.contract_id = c.contract_id and h.minute = c.minute`;
  await sql`
    with affected as materialized (
      select contract_id, minute, min(chain_id) as chain_id, min(first_block_id) as first_block_id,
             max(last_block_id) as last_block_id
      from (${sql.join(affected, sql` union all `)}) one group by contract_id, minute
    ), changed as materialized (
      select t.contract_id, t.minute, t.chain_id, d.*, o.contract_id is null as is_new,
             ${sql.join(salesFigures.map((figure) => sql`coalesce(o.${sql.ref(figure)}, 0) as ${sql.id(`old_${figure}`)}`))}
      from affected t
      left join ${minute} o using (contract_id, minute)
      cross join lateral (
        select ${minuteAggregates} from sales.sale s ${withPrice}
        where s.contract_id = t.contract_id
          and s.block_id >= least(t.first_block_id, o.first_block_id)
          and s.block_id <= greatest(t.last_block_id, o.last_block_id)
          and s.timestamp >= t.minute and s.timestamp < t.minute + interval '1 minute'
      ) d
    ), removed as (
      delete from ${minute} h using changed c where c.sales = 0 and ${sameMinute}
    ), updated as (
      update ${minute} h set (${minuteValues}) = (select ${minuteValuesOf("c")})
      from changed c where c.sales > 0 and not c.is_new and ${sameMinute}
    ), inserted as (
      insert into ${minute} (contract_id, minute, chain_id, ${minuteValues})
      select contract_id, minute, chain_id, ${minuteValues} from changed where is_new and sales > 0
    )
    insert into pg_temp.figure_delta (contract_id, ${tradedNames})
    select c.contract_id, ${sql.join(figureDeltas)}
    from changed c left join ${sql.table(`${schema}.period_clock`)} k on true
    group by c.contract_id`.execute(session);
}

const valueNames = ["first_block_id", "last_block_id", "last_at", ...salesFigures];
const minuteValues = sql.join(valueNames.map((name) => sql.id(name)));
const minuteValuesOf = (alias: string) =>
  sql.join(valueNames.map((name) => sql.ref(`${alias}.${name}`)));
const tradedNames = sql.join(columnsOf(salesFigures).map((column) => sql.id(column)));

/** SQL: differences made by changed minutes `c`, by the clock `k`, in the order of `columnsOf`. */
const figureDeltas = salesFigures.flatMap((figure) =>
  ([...periods, "all"] as const).map((period) => {
    const delta = sql`sum(c.${sql.ref(figure)} - c.${sql.ref(`old_${figure}`)})`;
    if (period === "all") return delta;
    return sql`coalesce(${delta} filter (where c.minute >= k.minute - ${hoursOf(period)}), 0)`;
  }),
);

/**
 * SQL: contracts named by the orders of affected transactions, with the minute of the block: any of them may have been
 * sold. A block's facts are read once, however many of its transactions are affected.
 */
const minutesOfOrders = (window: FactWindow) => sql`
  select k.contract_id, ${minuteOf(sql`b.timestamp`)} as minute, b.chain_id, f.block_id as first_block_id,
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
 * transaction had sales before, contracts whose sales of that minute may have been in the block. A block's facts are read
 * once, and most transactions are new: the minutes that a block may have been in are hundreds.
 */
function minutesOfExchangeEvents(schema: string, window: FactWindow): RawBuilder<unknown> {
  const isEvent = sql`kind = ${kindLiteral("exchange_event")} and log_index is not null`;
  const changed = changedTransactions(window.changes, isEvent);
  return sql`
    select one.contract_id, ${minuteOf(sql`b.timestamp`)} as minute, b.chain_id, b.block_id as first_block_id,
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
      join ${sql.table(`${schema}.minute_sales`)} h
        on h.minute = ${minuteOf(sql`b.timestamp`)} and h.chain_id = b.chain_id
           and b.block_id between h.first_block_id and h.last_block_id
    ) one
    join log.block b using (block_id)`;
}

/** SQL: minutes with sales whose price may be the new one. */
function minutesOfPrices(schema: string, window: FactWindow): RawBuilder<unknown> {
  return sql`
    select h.contract_id, h.minute, h.chain_id, h.first_block_id, h.last_block_id
    from (
      select native.chain_id, c.recorded_at as minute from ${window.changes} c
      join ${nativeCoins} on native.coin = c.payload ->> 'type' where c.kind = ${kindLiteral("price_ticked")}
    ) tick
    join ${sql.table(`${schema}.minute_sales`)} h
      on h.chain_id = tick.chain_id and h.minute >= tick.minute and h.minute <= tick.minute + ${sql.raw(maxPriceAge)}
         and h.last_at >= tick.minute`;
}

/** The same for all sales, into empty tables. */
export async function deriveAllMinuteSales(session: Session, schema: string): Promise<void> {
  const minute = sql.table(`${schema}.minute_sales`);
  await sql`
    insert into ${minute} (contract_id, minute, chain_id, ${minuteValues})
    select contract_id, minute, chain_id, ${minuteValues}
    from (
      select s.contract_id, ${minuteOf(sql`s.timestamp`)} as minute, s.chain_id, ${minuteAggregates}
      from sales.sale s ${withPrice} group by 1, 2, 3
    ) d`.execute(session);
  const all = salesFigures.map((figure) => salesColumn(figure, "all"));
  await sql`
    insert into pg_temp.figure_delta (contract_id, ${sql.join(all.map((column) => sql.id(column)))})
    select contract_id, ${sql.join(salesFigures.map((figure) => sql`sum(${sql.id(figure)})`))}
    from ${minute} group by contract_id`.execute(session);
}

const columns = sql.raw(
  "block_id, transaction_index, ordinal, contract_id, token_id, chain_id, minute, wei",
);
const key = sql.raw("block_id, transaction_index, ordinal");

/** SQL: wash trades `w` of the sales, with what is counted of each. */
const washTrades = (from: RawBuilder<unknown>) => sql`
  select w.block_id, w.transaction_index, w.ordinal, w.contract_id, w.token_id, s.chain_id,
         date_trunc('minute', s.timestamp, 'UTC') as minute,
         case when native.coin is null then 0 else s.total_wei end as wei
  from ${from} join sales.sale s using (${key})
  left join ${nativeCoins} on native.chain_id = s.chain_id and ${isPaidNatively}`;

/**
 * Counts the wash trades again of the tokens of which a flag may have changed: those with a flag, before or now, on a
 * sale of a changed transaction. A later sale may flag an earlier one, so their minutes are any; a sale without a flag
 * gives none to others. The differences between counted and current flags are the differences of the figures.
 */
export async function deriveWashTrades(
  session: Session,
  schema: string,
  window: WindowWithKinds,
): Promise<void> {
  if (!holdsAny(window.kinds, saleFactKinds)) return;
  const counted = sql.table(`${schema}.wash_trade`);
  const isOfToken = (one: string) =>
    sql`${sql.ref(`${one}.contract_id`)} = t.contract_id and ${sql.ref(`${one}.token_id`)} = t.token_id`;
  await sql`
    with changed as materialized (
      ${changedSaleTransactions(window.changes)}
    ), token as materialized (
      select contract_id, token_id from changed join ${counted} w using (block_id, transaction_index)
      union
      select contract_id, token_id from changed join sales.wash_trade w using (block_id, transaction_index)
    ), flagged as materialized (
      ${washTrades(sql`token t join sales.wash_trade w on ${isOfToken("w")}`)}
    ), known as materialized (
      select w.* from token t join ${counted} w on ${isOfToken("w")}
    ), removed as (
      delete from ${counted} w using known
      where w.block_id = known.block_id and w.transaction_index = known.transaction_index
        and w.ordinal = known.ordinal
        and (known.block_id, known.transaction_index, known.ordinal) not in (select ${key} from flagged)
    ), stored as (
      insert into ${counted} as w (${columns}) select ${columns} from flagged
      on conflict (${key}) do update
        set contract_id = excluded.contract_id, token_id = excluded.token_id, minute = excluded.minute, wei = excluded.wei
        where (w.contract_id, w.token_id, w.minute, w.wei)
          is distinct from (excluded.contract_id, excluded.token_id, excluded.minute, excluded.wei)
    ), difference as (
      select contract_id, chain_id, minute, sum(sign) as wash_sales, sum(sign * wei) as wash_wei
      from (select 1, flagged.* from flagged union all select -1, known.* from known) both_ends (sign, ${columns})
      group by 1, 2, 3
    )
    insert into pg_temp.figure_delta (contract_id, ${sql.join(columnsOf(washFigures).map((name) => sql.id(name)))})
    select d.contract_id, ${sql.join(deltas)}
    from difference d left join ${sql.table(`${schema}.period_clock`)} k on true
    where d.wash_sales <> 0 or d.wash_wei <> 0
    group by d.contract_id`.execute(session);
}

/** SQL: by the clock `k`, in the order of `columnsOf`. */
const deltas = washFigures.flatMap((figure) =>
  ([...periods, "all"] as const).map((period) => {
    const sum = sql`sum(d.${sql.ref(figure)})`;
    if (period === "all") return sum;
    return sql`coalesce(${sum} filter (where d.minute >= k.minute - ${hoursOf(period)}), 0)`;
  }),
);

/** The same for all sales, into empty tables. */
export async function deriveAllWashTrades(session: Session, schema: string): Promise<void> {
  const counted = sql.table(`${schema}.wash_trade`);
  await sql`
    insert into ${counted} (${columns})
    select ${columns} from (${washTrades(sql`sales.wash_trade w`)}) d`.execute(session);
  await sql`
    insert into pg_temp.figure_delta (contract_id, ${sql.join(washFigures.map((figure) => sql.id(salesColumn(figure, "all"))))})
    select contract_id, count(*), sum(wei) from ${counted} group by contract_id`.execute(session);
}
