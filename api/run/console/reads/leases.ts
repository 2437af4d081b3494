import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";

export type Lease = {
  role: string;
  owner: string;
  epoch: bigint;
  /** Until it expires; negative: since it did. */
  seconds: number;
};

/** Which process works in each role that only one may work in. */
export async function readLeases(db: Database): Promise<Lease[]> {
  const { rows } = await sql<Lease>`
    select role, owner, epoch, extract(epoch from expires_at - clock_timestamp())::float8 as seconds
    from (select * from ops.lease union all select * from ops.projecting_lease) held
    where role !~ '^projections' or expires_at > clock_timestamp() order by role`.execute(db);
  return rows;
}
