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
