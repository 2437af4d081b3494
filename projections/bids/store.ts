import { sql } from "kysely";
import type { Session } from "../database.ts";
import type { RecomputeSet } from "../order-state/select-facts.ts";
import { makerFunds } from "./maker-funds.ts";
import { blockedBy, ownStates, status, updatedAt } from "./state.ts";

/** Columns of `bid`. */
const stored = sql`
  chain_id, order_hash, position, kind, contract_id, token_id, standard, maker, currency, unit_price_wei,
  seller_net_wei, quantity, start_time, end_time, counter, fees, is_contract_signed, created_at, status, reason, filled,
  filled_block_id, updated_at`;
const differs = sql`
  (status, reason, filled, filled_block_id, updated_at)
  is distinct from (old_status, old_reason, old_filled, old_filled_block_id, old_updated_at)`;
/** Empty tables without indexes have none to find. */
const onConflict = sql`
  on conflict (order_hash, chain_id) do update
    set status = excluded.status, reason = excluded.reason, filled = excluded.filled,
        filled_block_id = excluded.filled_block_id, updated_at = excluded.updated_at`;
const sameCount = sql`
  c.chain_id = m.chain_id and c.contract_id = m.contract_id and c.kind = m.kind and c.status = m.status`;

/** Judges the listed bids by the log, stores what differs, and moves the counts by the difference. */
export async function storeStates(
  session: Session,
  schema: string,
  judged: RecomputeSet,
): Promise<void> {
  const bid = sql.table(`${schema}.bid`);
  const count = sql.table(`${schema}.count`);
  const replacing = judged.history === undefined ? onConflict : sql``;
  await sql`
    with own as materialized (
      ${ownStates(judged)}
    ), account as materialized (
      select distinct chain_id, currency, maker from own where not (is_filled or is_cancelled or is_expired)
    ), ${makerFunds(schema, judged)}, weighed as (
      select *, ${blockedBy} as blocked_by from own left join paid using (chain_id, currency, maker)
    ), named as (
      select *, ${status} as status from weighed
    ), judged as (
      select *, case when status = 'inactive' then blocked_by end as reason, ${updatedAt} as updated_at from named
    ), changed as materialized (
      select * from judged where ${differs}
    ), kept as (
      insert into ${bid} (${stored}) select ${stored} from changed ${replacing}
    ), moved as materialized (
      select m.*, c.rows is null as is_new, coalesce(c.rows, 0) + m.by as after
      from (
        select chain_id, contract_id, kind, status, sum(by) as by
        from (
          select chain_id, contract_id, kind, status, 1 as by from changed
          union all
          select chain_id, contract_id, kind, old_status, -1 from changed where old_status is not null
        ) leg
        group by chain_id, contract_id, kind, status having sum(by) <> 0
      ) m
      left join ${count} c using (chain_id, contract_id, kind, status)
    ), emptied as (
      delete from ${count} c using moved m where m.after = 0 and ${sameCount}
    ), recounted as (
      update ${count} c set rows = m.after from moved m where m.after <> 0 and not m.is_new and ${sameCount}
    )
    insert into ${count} (chain_id, contract_id, kind, status, rows)
    select chain_id, contract_id, kind, status, after from moved where is_new`.execute(session);
}
