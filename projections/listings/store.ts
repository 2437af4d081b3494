import { type RawBuilder, sql } from "kysely";
import type { Session } from "../log/database.ts";
import { isCompacted } from "../order-state/compaction.ts";
import type { RecomputeSet } from "../order-state/select-facts.ts";
import { storeCounts } from "../order-state/status-counts.ts";
import { changedToken } from "./changed-tokens.ts";
import { termColumnNames, termColumns } from "./listing-terms.ts";
import { listingStates } from "./state.ts";

/** Columns of `listing`. */
const columns = sql`${termColumns}, status, reason, filled, fillable, updated_at`;

/** Terms are replaced too: by those of a marketplace with higher precedence, or by a withdrawal. */
const replacements = sql.raw(
  [...termColumnNames, "status", "reason", "filled", "fillable", "updated_at"]
    .filter((name) => name !== "order_hash" && name !== "chain_id")
    .map((name) => `${name} = excluded.${name}`)
    .join(", "),
);

const differs = sql`
  is_replaced or (status, reason, filled, fillable, updated_at)
                 is distinct from (old_status, old_reason, old_filled, old_fillable, old_updated_at)`;

/** The listings to recompute, each with its new state. */
function recomputed(recompute: RecomputeSet): RawBuilder<unknown> {
  return sql`${recompute.orders} join (${listingStates(recompute)}) s using (order_hash, chain_id)`;
}

/** Stores and counts the listings whose terms or state changed, deletes compacted ones, and notes their tokens. */
export async function storeStates(
  session: Session,
  schema: string,
  recompute: RecomputeSet,
): Promise<void> {
  const counts = storeCounts(schema, "marketplace", "old_marketplace");
  const listing = sql.table(`${schema}.listing`);
  await sql`
    with changed as materialized (
      select * from (select *, ${isCompacted(recompute)} as is_compacted from ${recomputed(recompute)}) r
      where case when is_compacted then old_status is not null else ${differs} end
    ), stored as (
      insert into ${listing} (${columns})
      select ${columns} from changed where not is_compacted
      on conflict (order_hash, chain_id) do update set ${replacements}
    ), compacted as (
      delete from ${listing} l using changed c
      where c.is_compacted and l.order_hash = c.order_hash and l.chain_id = c.chain_id
    ), noted as (
      insert into ${changedToken} (schema, contract_id, token_id)
      select distinct ${schema}, contract_id, token_id from changed
    ), ${counts.queries}
    ${counts.statement}`.execute(session);
}

/** Stores and counts all listings, in empty tables without indexes. */
export async function insertStates(
  session: Session,
  schema: string,
  recompute: RecomputeSet,
): Promise<void> {
  await sql`
    insert into ${sql.table(`${schema}.listing`)} (${columns})
    select ${columns} from ${recomputed(recompute)} where not ${isCompacted(recompute)}`.execute(
    session,
  );
  await sql`
    insert into ${sql.table(`${schema}.count`)} (chain_id, contract_id, marketplace, status, rows)
    select chain_id, contract_id, marketplace, status, count(*)
    from ${sql.table(`${schema}.listing`)} group by chain_id, contract_id, marketplace, status`.execute(
    session,
  );
}
