import { type RawBuilder, sql } from "kysely";
import type { Session } from "../database.ts";
import type { RecomputeSet } from "../order-state/select-facts.ts";
import { changedToken } from "./changed-tokens.ts";
import { termColumnNames, termColumns } from "./listing-terms.ts";
import { listingStates } from "./state.ts";

/** Columns of `listing` and what fills them, of a judged listing. */
const stored = sql`${termColumns}, status, reason, filled, fillable, updated_at`;
const values = sql`${termColumns}, new_status, new_reason, new_filled, new_fillable, new_updated_at`;

/** An order may be told otherwise than before: by a better marketplace, or withdrawn. */
const replaced = sql.raw(
  [...termColumnNames, "status", "reason", "filled", "fillable", "updated_at"]
    .filter((name) => name !== "order_hash" && name !== "chain_id")
    .map((name) => `${name} = excluded.${name}`)
    .join(", "),
);

const differs = sql`
  is_retold or (status, reason, filled, fillable, updated_at)
               is distinct from (new_status, new_reason, new_filled, new_fillable, new_updated_at)`;

/** The judged listings, each with its new state. */
function states(judged: RecomputeSet): RawBuilder<unknown> {
  return sql`${judged.orders} join (${listingStates(judged)}) s using (order_hash, chain_id)`;
}

/** Stores the states of the judged listings where they differ from what is stored, counts them, and lists their tokens. */
export async function storeStates(
  session: Session,
  schema: string,
  judged: RecomputeSet,
): Promise<void> {
  const count = sql.table(`${schema}.count`);
  await sql`
    with changed as materialized (
      select * from ${states(judged)} where ${differs}
    ), kept as (
      insert into ${sql.table(`${schema}.listing`)} (${stored})
      select ${values} from changed
      on conflict (order_hash, chain_id) do update set ${replaced}
    ), told as (
      insert into ${changedToken} (schema, contract_id, token_id)
      select distinct ${schema}, contract_id, token_id from changed
    ), moved as materialized (
      select m.*, c.rows is null as is_new, coalesce(c.rows, 0) + m.by as after
      from (
        select chain_id, contract_id, marketplace, status, sum(by) as by
        from (
          select chain_id, contract_id, marketplace, new_status as status, 1 as by from changed
          union all
          select chain_id, contract_id, old_marketplace, status, -1 from changed where status is not null
        ) leg
        group by chain_id, contract_id, marketplace, status having sum(by) <> 0
      ) m
      left join ${count} c on ${sameCount}
    ), emptied as (
      delete from ${count} c using moved m where m.after = 0 and ${sameCount}
    ), recounted as (
      update ${count} c set rows = m.after from moved m where m.after <> 0 and not m.is_new and ${sameCount}
    )
    insert into ${count} (chain_id, contract_id, marketplace, status, rows)
    select chain_id, contract_id, marketplace, status, after from moved where is_new`.execute(
    session,
  );
}

const sameCount = sql`
  c.chain_id = m.chain_id and c.contract_id = m.contract_id and c.marketplace = m.marketplace
  and c.status = m.status`;

/** The same for empty tables without indexes. */
export async function insertStates(
  session: Session,
  schema: string,
  judged: RecomputeSet,
): Promise<void> {
  await sql`
    insert into ${sql.table(`${schema}.listing`)} (${stored})
    select ${values} from ${states(judged)}`.execute(session);
  await sql`
    insert into ${sql.table(`${schema}.count`)} (chain_id, contract_id, marketplace, status, rows)
    select chain_id, contract_id, marketplace, status, count(*)
    from ${sql.table(`${schema}.listing`)} group by chain_id, contract_id, marketplace, status`.execute(
    session,
  );
}
