import { sql } from "kysely";
import type { Session } from "../log/database.ts";
import { isCompacted } from "../order-state/compaction.ts";
import type { RecomputeSet } from "../order-state/select-facts.ts";
import { storeCounts } from "../order-state/status-counts.ts";
import { makerFunds } from "./maker-funds.ts";
import { inactiveReason, orderConditions, status, updatedAt } from "./state.ts";

/** Columns of `bid`. */
const columns = sql`
  chain_id, order_hash, position, kind, contract_id, token_id, standard, maker, currency, unit_price_wei,
  seller_net_wei, quantity, start_time, end_time, counter, fees, is_contract_signed, created_at, status, reason, filled,
  filled_block_id, updated_at`;
const differs = sql`
  (status, reason, filled, filled_block_id, updated_at)
  is distinct from (old_status, old_reason, old_filled, old_filled_block_id, old_updated_at)`;
/** Not in bulk: tables without indexes cannot have conflicts. */
const onConflict = sql`
  on conflict (order_hash, chain_id) do update
    set status = excluded.status, reason = excluded.reason, filled = excluded.filled,
        filled_block_id = excluded.filled_block_id, updated_at = excluded.updated_at`;

/** Recomputes the state of the bids, and stores and counts those whose state changed, and deletes compacted ones. */
export async function storeStates(
  session: Session,
  schema: string,
  recompute: RecomputeSet,
): Promise<void> {
  const counts = storeCounts(schema, "kind", "kind");
  const bid = sql.table(`${schema}.bid`);
  const resolution = recompute.history === undefined ? onConflict : sql``;
  await sql`
    with conditions as materialized (
      ${orderConditions(recompute)}
    ), account as materialized (
      select distinct chain_id, currency, maker from conditions where not (is_filled or is_cancelled or is_expired)
    ), ${makerFunds(schema, recompute)}, funded as (
      select *, ${inactiveReason} as inactive_reason from conditions left join funds using (chain_id, currency, maker)
    ), with_status as (
      select *, ${status} as status from funded
    ), recomputed as (
      select *, case when status = 'inactive' then inactive_reason end as reason, ${updatedAt} as updated_at
      from with_status
    ), changed as materialized (
      select * from (select *, ${isCompacted(recompute)} as is_compacted from recomputed) r
      where case when is_compacted then old_status is not null else ${differs} end
    ), stored as (
      insert into ${bid} (${columns}) select ${columns} from changed where not is_compacted ${resolution}
    ), compacted as (
      delete from ${bid} b using changed c
      where c.is_compacted and b.order_hash = c.order_hash and b.chain_id = c.chain_id
    ), ${counts.queries}
    ${counts.statement}`.execute(session);
}
