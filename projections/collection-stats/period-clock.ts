import { sql } from "kysely";
import { chainIds } from "#chains/index.ts";
import type { Session } from "../log/database.ts";
import type { FactWindow } from "../engine/projection.ts";
import { openScratchTable } from "../engine/scratch.ts";
import { clockAt } from "../engine/fact-window.ts";
import { hoursOf, type Period, periods, salesColumn, salesFigures } from "./periods.ts";

/** SQL: the time of the last floor snapshot of any chain. */
const lastSnapshotAt = sql`
  select max(last.taken_at)
  from unnest(array[${sql.join(chainIds.map((id) => sql.lit(id)))}]) one (chain_id)
  cross join lateral (
    select max(s.taken_at) as taken_at from floors.snapshot s where s.chain_id = one.chain_id
  ) last`;

/**
 * Advances the periods of sales to the minute of the last clock tick or floor snapshot: minutes that left a period are
 * subtracted. Before the first one nothing is in a period.
 */
export async function advancePeriodClock(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<void> {
  const clock = sql.table(`${schema}.period_clock`);
  await openScratchTable(
    session,
    "advanced_period_clock",
    "minute timestamptz, old_minute timestamptz",
  );
  await sql`delete from pg_temp.advanced_period_clock`.execute(session);
  const { numAffectedRows } = await sql`
    insert into pg_temp.advanced_period_clock
    select date_trunc('minute', to_timestamp(tick.at), 'UTC'), k.minute
    from (
      select greatest(nullif(${clockAt(window)}, 0), extract(epoch from (${lastSnapshotAt})))::float8 as at
    ) tick left join ${clock} k on true
    where tick.at is not null and date_trunc('minute', to_timestamp(tick.at), 'UTC') is distinct from k.minute`.execute(
    session,
  );
  if ((numAffectedRows ?? 0n) === 0n) return;
  for (const period of periods) await updatePeriodFigures(session, schema, period);
  await sql`delete from ${clock}`.execute(session);
  await sql`insert into ${clock} select minute from pg_temp.advanced_period_clock`.execute(session);
}

/** Without a clock the periods were empty: all their minutes are added. */
async function updatePeriodFigures(
  session: Session,
  schema: string,
  period: Period,
): Promise<void> {
  const counts = {
    minute_sales: salesFigures.map((figure) => [figure, sql`h.${sql.ref(figure)}`] as const),
    wash_trade: [["wash_sales", sql`1`] as const, ["wash_wei", sql`h.wei`] as const],
  };
  for (const [table, figures] of Object.entries(counts)) {
    const columns = figures.map(([figure]) => sql.id(salesColumn(figure, period)));
    const sums = figures.map(([, count]) => sql`sum(m.sign * ${count})`);
    await sql`
      insert into pg_temp.figure_delta (contract_id, ${sql.join(columns)})
      select h.contract_id, ${sql.join(sums)}
      from (
        select case when m.old_minute is null then 1 else -1 end as sign,
               coalesce(m.old_minute, m.minute) - ${hoursOf(period)} as start,
               case when m.old_minute is null then 'infinity' else m.minute - ${hoursOf(period)} end as before
        from pg_temp.advanced_period_clock m
      ) m
      join ${sql.table(`${schema}.${table}`)} h on h.minute >= m.start and h.minute < m.before
      group by h.contract_id`.execute(session);
  }
}
