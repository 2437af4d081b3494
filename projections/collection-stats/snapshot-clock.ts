import { sql } from "kysely";
import { chainIds } from "#chains/index.ts";
import type { Session } from "../log/database.ts";
import { openScratchTable } from "../engine/scratch.ts";
import { hoursOf, type Period, periods } from "./periods.ts";

/** How much older than one period before the last snapshot the compared snapshot may be. */
const maxSnapshotGap = sql.raw("interval '1 hour'");

/** Advances the clock to the last floor snapshot. Contracts whose floor one period ago changed are affected. */
export async function advanceSnapshotClock(session: Session, schema: string): Promise<void> {
  const clock = sql.table(`${schema}.snapshot_clock`);
  const before = periods.map(
    (period) => `"before_${period}" timestamptz, "old_${period}" timestamptz`,
  );
  await openScratchTable(
    session,
    "advanced_clock",
    `chain_id integer, snapshot_at timestamptz, old_snapshot_at timestamptz, ${before.join(", ")}`,
  );
  await sql`delete from pg_temp.advanced_clock`.execute(session);
  const { numAffectedRows } = await sql`
    insert into pg_temp.advanced_clock
    select last.chain_id, last.snapshot_at, c.snapshot_at, ${sql.join(
      periods.map((period) => sql`(${onePeriodBefore(period)}), c.${sql.ref(`before_${period}`)}`),
    )}
    from (
      select chain_id, (select max(s.taken_at) from floors.snapshot s where s.chain_id = one.chain_id) as snapshot_at
      from unnest(array[${sql.join(chainIds.map((id) => sql.lit(id)))}]) one (chain_id)
    ) last
    left join ${clock} c using (chain_id)
    where last.snapshot_at is not null and last.snapshot_at is distinct from c.snapshot_at`.execute(
    session,
  );
  if ((numAffectedRows ?? 0n) === 0n) return;
  await addFloorAffected(session, schema);
  await sql`delete from ${clock} c using pg_temp.advanced_clock m where m.chain_id = c.chain_id`.execute(
    session,
  );
  await sql`
    insert into ${clock} select chain_id, snapshot_at, ${sql.join(periods.map((period) => sql.id(`before_${period}`)))}
    from pg_temp.advanced_clock`.execute(session);
}

function onePeriodBefore(period: Period) {
  const then = sql`last.snapshot_at - ${hoursOf(period)}`;
  return sql`
    select max(s.taken_at) from floors.snapshot s
    where s.chain_id = last.chain_id and s.taken_at <= ${then} and s.taken_at > ${then} - ${maxSnapshotGap}`;
}

/** After a longer step floors in between may have been deleted already, so all contracts are affected. */
const maxClockStep = sql.raw("interval '12 hours'");

/** Adds the contracts whose floor at the start of a period differs from before. */
async function addFloorAffected(session: Session, schema: string): Promise<void> {
  for (const period of periods) {
    const [now, old] = [sql.ref(`m.before_${period}`), sql.ref(`m.old_${period}`)];
    const changedAt = (column: string) => sql`
      select f.contract_id from pg_temp.advanced_clock m join floors.floor f
        on f.chain_id = m.chain_id and f.${sql.ref(column)} > ${old} and f.${sql.ref(column)} <= ${now}`;
    await sql`
      insert into pg_temp.affected_contract
      ${changedAt("valid_from")} union ${changedAt("valid_until")}
      union
      select c.contract_id
      from pg_temp.advanced_clock m join ${sql.table(`${schema}.contract`)} c on c.chain_id = m.chain_id
      where (${now} is null) <> (${old} is null) or m.snapshot_at > m.old_snapshot_at + ${maxClockStep}`.execute(
      session,
    );
  }
}
