import { sql } from "kysely";
import type { Session } from "../database.ts";
import type { Window } from "./projection.ts";

const columns = sql`f.position, f.block_id, f.transaction_index, f.log_index, f.contract_id, f.sub_index, f.kind,
  f.token_id, f.amount, f.from_address, f.to_address, f.order_hash, f.recorded_at, f.payload`;

/** Facts in a window from which statistics of the temporary table pay for themselves. */
const ANALYZE_FACTS = 2_000n;

/**
 * Fills the session's temporary tables `dropped` and `change` for a window. A fact counts at a position when it is
 * not above it and its block is not dropped there; `change` holds the facts for which that differs between the
 * window's two ends, with the sign of the difference.
 */
export async function openWindow(session: Session, { after, upTo }: Window): Promise<void> {
  await sql`
    create temporary table if not exists dropped (block_id bigint primary key) on commit delete rows
  `.execute(session);
  await sql`
    create temporary table if not exists change (
      weight integer, position bigint, block_id bigint, transaction_index integer, log_index integer,
      contract_id integer, sub_index integer, kind smallint, token_id numeric(78,0), amount numeric(78,0),
      from_address bytea, to_address bytea, order_hash bytea, recorded_at timestamptz, payload jsonb
    ) on commit delete rows`.execute(session);

  await sql`insert into dropped select block_id from log.dropped(${upTo})`.execute(session);
  await sql`
    insert into change
    select 1, ${columns} from log.fact f
    where f.position > ${after} and f.position <= ${upTo} and f.kind not in (1, 2)
      and not exists (select from dropped d where d.block_id = f.block_id)`.execute(session);
  await sql`
    insert into change
    select flipped.weight, ${columns}
    from (
      select s.block_id, (was.block_id is not null)::int - (d.block_id is not null)::int as weight
      from (
        select distinct block_id from log.fact where kind in (1, 2) and position > ${after} and position <= ${upTo}
      ) s
      left join log.dropped(${after}) was using (block_id)
      left join dropped d using (block_id)
    ) flipped
    join log.fact f using (block_id)
    where flipped.weight <> 0 and f.position <= ${after} and f.kind not in (1, 2)`.execute(session);
  if (upTo - after > ANALYZE_FACTS) await sql`analyze change`.execute(session);
}
