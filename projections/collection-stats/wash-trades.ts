import { type RawBuilder, sql } from "kysely";
import type { Session } from "../log/database.ts";
import { holdsAny } from "../engine/fact-window.ts";
import type { WindowWithKinds } from "../engine/projection.ts";
import { changedSaleTransactions, saleFactKinds } from "../exchanges/exchanges.ts";
import { isPaidNatively, nativeCoins } from "../engine/usd.ts";
import { columnsOf, hoursOf, periods, salesColumn, washFigures } from "./periods.ts";

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
