import { type RawBuilder, sql } from "kysely";
import {
  type OrderFacts,
  type OrderStatus,
  statusPrecedence,
} from "../domain/orders/order-status.ts";

/** Whether the order `o` has not ended: it may become fillable again. Worded as the predicates of partial indexes. */
export const isOpen = sql`o.status in ('active', 'inactive')`;

/** `orderStatus` as an expression over conditions that are never null. */
export function statusCase(
  conditions: Readonly<Record<keyof OrderFacts, RawBuilder<unknown>>>,
): RawBuilder<OrderStatus> {
  const branches = statusPrecedence.map(
    ([status, fact]) => sql`when ${conditions[fact]} then ${sql.lit(status)}`,
  );
  return sql`case ${sql.join(branches, sql` `)} else 'active' end`;
}

/** The first of the reasons whose condition holds, or null. A reason without a condition never does. */
export function reasonCase<Reason extends string>(
  reasons: readonly Reason[],
  conditions: Readonly<Partial<Record<Reason, RawBuilder<unknown>>>>,
): RawBuilder<Reason | null> {
  const branches = reasons.flatMap((reason) => {
    const condition = conditions[reason];
    return condition === undefined ? [] : [sql`when ${condition} then ${sql.lit(reason)}`];
  });
  return sql`case ${sql.join(branches, sql` `)} end`;
}

/**
 * The end of a statement whose query `changed` holds orders with their new and old states (`status`, `old_status`;
 * with `is_compacted` there is no new one):
 * applies the difference to `count`, the number of orders by chain, contract, `dimension` and status.
 * `oldDimension` is the column with the value of `dimension` before.
 */
export function storeCounts(
  schema: string,
  dimension: "marketplace" | "kind",
  oldDimension: "old_marketplace" | "kind",
): { queries: RawBuilder<unknown>; statement: RawBuilder<unknown> } {
  const count = sql.table(`${schema}.count`);
  const key = sql`chain_id, contract_id, ${sql.ref(dimension)}, status`;
  const isSame = sql`
    c.chain_id = d.chain_id and c.contract_id = d.contract_id and c.status = d.status
    and c.${sql.ref(dimension)} = d.${sql.ref(dimension)}`;
  return {
    queries: sql`
      count_delta as materialized (
        select d.*, c.rows is null as is_new, coalesce(c.rows, 0) + d.by as after
        from (
          select ${key}, sum(by) as by
          from (
            select ${key}, 1 as by from changed where not is_compacted
            union all
            select chain_id, contract_id, ${sql.ref(oldDimension)}, old_status, -1 from changed
            where old_status is not null
          ) leg
          group by ${key} having sum(by) <> 0
        ) d
        left join ${count} c on ${isSame}
      ), emptied_count as (
        delete from ${count} c using count_delta d where d.after = 0 and ${isSame}
      ), updated_count as (
        update ${count} c set rows = d.after from count_delta d where d.after <> 0 and not d.is_new and ${isSame}
      )`,
    statement: sql`
      insert into ${count} (${key}, rows)
      select ${key}, after from count_delta where is_new`,
  };
}
