import { sql } from "kysely";
import { chainIds } from "../../abis/deployments.ts";
import type { Session } from "../database.ts";
import { openScratch } from "../engine/scratch.ts";
import { hoursOf, type Period, periods, tradedColumn, tradedFigures } from "./periods.ts";

/** A snapshot stands for the moment one period before the last one when it was taken within this of it. */
const nearEnough = sql.raw("interval '1 hour'");

/**
 * Moves the clock to the last floor snapshot. Hours that windows no longer hold leave them, and contracts whose floor
 * one period ago is another are touched.
 */
export async function moveClock(session: Session, schema: string): Promise<void> {
  const clock = sql.table(`${schema}.clock`);
  const before = periods.map(
    (period) => `"before_${period}" timestamptz, "old_${period}" timestamptz`,
  );
  await openScratch(
    session,
    "moved_clock",
    `chain_id integer, moment timestamptz, old_moment timestamptz, ${before.join(", ")}`,
  );
  await sql`delete from pg_temp.moved_clock`.execute(session);
  const { numAffectedRows } = await sql`
    insert into pg_temp.moved_clock
    select last.chain_id, last.moment, c.moment, ${sql.join(
      periods.map((period) => sql`(${beforeLast(period)}), c.${sql.ref(`before_${period}`)}`),
    )}
    from (
      select chain_id, (select max(s.moment) from floors.snapshot s where s.chain_id = one.chain_id) as moment
      from unnest(array[${sql.join(chainIds.map((id) => sql.lit(id)))}]) one (chain_id)
    ) last
    left join ${clock} c using (chain_id)
    where last.moment is not null and last.moment is distinct from c.moment`.execute(session);
  if ((numAffectedRows ?? 0n) === 0n) return;
  for (const period of periods) await moveWindow(session, schema, period);
  await touchFloors(session, schema);
  await sql`delete from ${clock} c using pg_temp.moved_clock m where m.chain_id = c.chain_id`.execute(
    session,
  );
  await sql`
    insert into ${clock} select chain_id, moment, ${sql.join(periods.map((period) => sql.id(`before_${period}`)))}
    from pg_temp.moved_clock`.execute(session);
}

function beforeLast(period: Period) {
  const then = sql`last.moment - ${hoursOf(period)}`;
  return sql`
    select max(s.moment) from floors.snapshot s
    where s.chain_id = last.chain_id and s.moment <= ${then} and s.moment > ${then} - ${nearEnough}`;
}

/** Without a clock windows were empty: all that they hold now comes. */
async function moveWindow(session: Session, schema: string, period: Period): Promise<void> {
  const hour = (column: string) => sql`date_trunc('hour', m.${sql.ref(column)}, 'UTC')`;
  const start = sql`${hour("moment")} - ${hoursOf(period)}`;
  const columns = tradedFigures.map((figure) => sql.id(tradedColumn(figure, period)));
  const sums = tradedFigures.map((figure) => sql`sum(m.sign * h.${sql.ref(figure)})`);
  await sql`
    insert into pg_temp.moved_figures (contract_id, ${sql.join(columns)})
    select h.contract_id, ${sql.join(sums)}
    from (
      select m.chain_id, case when m.old_moment is null then 1 else -1 end as sign,
             case when m.old_moment is null then ${start} else ${hour("old_moment")} - ${hoursOf(period)} end as after,
             case when m.old_moment is null then 'infinity' else ${start} end as up_to
      from pg_temp.moved_clock m
    ) m
    join ${sql.table(`${schema}.hour`)} h on h.hour > m.after and h.hour <= m.up_to and h.chain_id = m.chain_id
    group by h.contract_id`.execute(session);
}

/** A clock that stood still longer may have lost floors between: old ones are dropped. */
const longestStep = sql.raw("interval '12 hours'");

/** Contracts whose floor differs between the snapshots that stood for a period's beginning before and now. */
async function touchFloors(session: Session, schema: string): Promise<void> {
  for (const period of periods) {
    const [now, old] = [sql.ref(`m.before_${period}`), sql.ref(`m.old_${period}`)];
    const between = (column: string) => sql`
      select f.contract_id from pg_temp.moved_clock m join floors.floor f
        on f.chain_id = m.chain_id and f.${sql.ref(column)} > ${old} and f.${sql.ref(column)} <= ${now}`;
    await sql`
      insert into pg_temp.touched_contract
      ${between("since")} union ${between("until")}
      union
      select c.contract_id
      from pg_temp.moved_clock m join ${sql.table(`${schema}.contract`)} c on c.chain_id = m.chain_id
      where (${now} is null) <> (${old} is null) or m.moment > m.old_moment + ${longestStep}`.execute(
      session,
    );
  }
}
