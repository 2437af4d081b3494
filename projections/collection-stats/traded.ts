import { type RawBuilder, sql } from "kysely";
import { longestAge, priceAt } from "../coin-prices/read.ts";
import type { Session } from "../database.ts";
import { factKind } from "../log/fact-kind.ts";
import { isPaidNatively, nativeCoins } from "../sql/native-coin.ts";
import { hoursOf, periods, tradedColumn, tradedColumns, tradedFigures } from "./periods.ts";

const { order_fulfilled, orders_matched, price_ticked } = factKind;
const isOrder = sql`kind in (${order_fulfilled}, ${orders_matched}) and log_index is not null`;

const hourOf = (time: RawBuilder<unknown>) => sql`date_trunc('hour', ${time}, 'UTC')`;

/** A sale `s` with the price at its moment, `p.price_e8`, looked up once though it is used twice. */
const withPrice = sql`
  left join ${nativeCoins} on native.chain_id = s.chain_id and ${isPaidNatively}
  cross join lateral (select ${priceAt(sql`native.coin`, sql`s.timestamp`)} as price_e8 offset 0) p`;

const summed = sql`
  min(s.block_id) as first_block_id, max(s.block_id) as last_block_id, max(s.timestamp) as last_at,
  count(*)::numeric as sales, coalesce(sum(s.total_wei) filter (where native.coin is not null), 0) as wei,
  count(p.price_e8)::numeric as priced, coalesce(sum(div(s.total_wei * p.price_e8, 1000000000000000000)), 0) as usd_e8`;

/** Derives anew the hours whose sales or prices a window's facts may have changed; sales stand at its end already. */
export async function deriveTraded(
  session: Session,
  schema: string,
  kinds: ReadonlySet<number>,
): Promise<void> {
  const touched = [
    ...(kinds.has(order_fulfilled) || kinds.has(orders_matched) ? [hoursOfOrders] : []),
    ...(kinds.has(price_ticked) ? [hoursOfPrices(schema)] : []),
  ];
  if (touched.length === 0) return;
  const hour = sql.table(`${schema}.hour`);
  const sameHour = sql`h.contract_id = c.contract_id and h.hour = c.hour`;
  await sql`
    with touched as materialized (
      select contract_id, hour, min(chain_id) as chain_id, min(first_block_id) as first_block_id,
             max(last_block_id) as last_block_id
      from (${sql.join(touched, sql` union all `)}) one group by contract_id, hour
    ), changed as materialized (
      select t.contract_id, t.hour, t.chain_id, d.*, o.contract_id is null as is_new,
             ${sql.join(tradedFigures.map((figure) => sql`coalesce(o.${sql.ref(figure)}, 0) as ${sql.id(`old_${figure}`)}`))}
      from touched t
      left join ${hour} o using (contract_id, hour)
      cross join lateral (
        select ${summed} from sales.sale s ${withPrice}
        where s.contract_id = t.contract_id
          and s.block_id >= least(t.first_block_id, o.first_block_id)
          and s.block_id <= greatest(t.last_block_id, o.last_block_id)
          and s.timestamp >= t.hour and s.timestamp < t.hour + interval '1 hour'
      ) d
    ), removed as (
      delete from ${hour} h using changed c where c.sales = 0 and ${sameHour}
    ), stored as (
      update ${hour} h set (${hourValues}) = (select ${hourValuesOf("c")})
      from changed c where c.sales > 0 and not c.is_new and ${sameHour}
    ), found as (
      insert into ${hour} (contract_id, hour, chain_id, ${hourValues})
      select contract_id, hour, chain_id, ${hourValues} from changed where is_new and sales > 0
    )
    insert into pg_temp.moved_figures (contract_id, ${tradedNames})
    select c.contract_id, ${sql.join(movedSums)}
    from changed c left join ${sql.table(`${schema}.clock`)} k on k.chain_id = c.chain_id
    group by c.contract_id`.execute(session);
}

const valueNames = ["first_block_id", "last_block_id", "last_at", ...tradedFigures];
const hourValues = sql.join(valueNames.map((name) => sql.id(name)));
const hourValuesOf = (alias: string) =>
  sql.join(valueNames.map((name) => sql.ref(`${alias}.${name}`)));
const tradedNames = sql.join(tradedColumns.map((column) => sql.id(column)));

/** In the order of `tradedColumns`: what changed hours `c` bring, by the clock `k`. */
const movedSums = tradedFigures.flatMap((figure) =>
  ([...periods, "all"] as const).map((period) => {
    const moved = sql`sum(c.${sql.ref(figure)} - c.${sql.ref(`old_${figure}`)})`;
    if (period === "all") return moved;
    return sql`coalesce(${moved} filter (where c.hour > ${hourOf(sql`k.moment`)} - ${hoursOf(period)}), 0)`;
  }),
);

/**
 * Contracts that a transaction's orders name, and the hour of its block: whatever it sold or no longer sells is among
 * them. A block's facts are read once, however many transactions of it are touched.
 */
const hoursOfOrders = sql`
  select k.contract_id, ${hourOf(sql`b.timestamp`)} as hour, b.chain_id, f.block_id as first_block_id,
         f.block_id as last_block_id
  from (
    select fact.block_id, fact.payload
    from (select distinct block_id from change where ${isOrder}) of_block
    cross join lateral (
      select f.block_id, f.transaction_index, f.payload from log.fact f
      where f.block_id = of_block.block_id and f.log_index is not null and f.kind = ${order_fulfilled}
      offset 0
    ) fact
    where (fact.block_id, fact.transaction_index) in (
      select block_id, transaction_index from change where ${isOrder}
    )
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

/** Hours with sales that a new price may be the price of. */
function hoursOfPrices(schema: string): RawBuilder<unknown> {
  return sql`
    select h.contract_id, h.hour, h.chain_id, h.first_block_id, h.last_block_id
    from (
      select native.chain_id, c.recorded_at as minute from change c
      join ${nativeCoins} on native.coin = c.payload ->> 'type' where c.kind = ${price_ticked}
    ) told
    join ${sql.table(`${schema}.hour`)} h
      on h.chain_id = told.chain_id and h.hour >= ${hourOf(sql`told.minute`)} and h.hour <= told.minute + ${sql.raw(longestAge)}
         and h.last_at >= told.minute`;
}

/** The same of all sales, for empty tables. */
export async function deriveAllTraded(session: Session, schema: string): Promise<void> {
  const hour = sql.table(`${schema}.hour`);
  await sql`
    insert into ${hour} (contract_id, hour, chain_id, ${hourValues})
    select contract_id, hour, chain_id, ${hourValues}
    from (
      select s.contract_id, ${hourOf(sql`s.timestamp`)} as hour, s.chain_id, ${summed}
      from sales.sale s ${withPrice} group by 1, 2, 3
    ) d`.execute(session);
  const all = tradedFigures.map((figure) => tradedColumn(figure, "all"));
  await sql`
    insert into pg_temp.moved_figures (contract_id, ${sql.join(all.map((column) => sql.id(column)))})
    select contract_id, ${sql.join(tradedFigures.map((figure) => sql`sum(${sql.id(figure)})`))}
    from ${hour} group by contract_id`.execute(session);
}
