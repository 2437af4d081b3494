import { sql } from "kysely";
import type { Session } from "../log/database.ts";
import { defaultFeeLimits } from "../domain/royalty.ts";
import { isObservation } from "../engine/fact-window.ts";
import type { FactWindow } from "../engine/projection.ts";

const isReading = isObservation("creator_fee_read");

/**
 * Stores the creator fees that partners require as one share, paid to the largest recipient, of equals the first. A fee
 * that nobody reviewed was recorded by an earlier version; it counts up to the default cap.
 */
export async function applyCreatorFees(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<void> {
  const creatorFee = sql.table(`${schema}.creator_fee`);
  await sql`
    delete from ${creatorFee} f using ${window.changes} c
    where ${isReading} and c.weight < 0 and f.position = c.position`.execute(session);
  await sql`
    insert into ${creatorFee}
    select c.position, c.contract_id, decode(substr(due.recipient, 3), 'hex'), least(due.bps, 10000),
           case when c.payload ? 'review' then c.payload #>> '{review,state}' in ('in_force', 'accepted')
                else due.bps <= ${defaultFeeLimits.maxBps} end
    from ${window.changes} c
    cross join lateral (
      select (array_agg(fee.value ->> 'recipient' order by (fee.value ->> 'bps')::int desc, fee.ordinality))[1] as recipient,
             coalesce(sum((fee.value ->> 'bps')::int), 0)::int as bps
      from jsonb_array_elements(c.payload -> 'fees') with ordinality fee
      where fee.value -> 'isRequired' = 'true'::jsonb and (fee.value ->> 'bps')::int > 0
    ) due
    where ${isReading} and c.weight > 0`.execute(session);
}
