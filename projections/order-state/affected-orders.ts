import { type RawBuilder, sql } from "kysely";
import { holdsAny, clockAt } from "../engine/fact-window.ts";
import type { FactWindow, Relation, WindowWithKinds } from "../engine/projection.ts";
import { type FactKind, kindList } from "../log/fact-kinds.ts";
import { isOpen } from "./status-sql.ts";

/** Facts of `kinds` have `keys`; they may change the stored orders `o` that meet `condition` with such a key `c`. */
export type AffectedBy = {
  kinds: readonly FactKind[];
  keys: RawBuilder<unknown>;
  condition: RawBuilder<unknown>;
};

/**
 * A query per rule, of the orders that a window's facts may change. Only for the kinds that the window has: a statement
 * for all of them takes several times as long to plan.
 */
export function affectedOrders(
  { kinds }: WindowWithKinds,
  rules: readonly AffectedBy[],
  order: Relation,
  columns: readonly string[],
): RawBuilder<unknown>[] {
  const selected = sql.raw(columns.map((name) => `o.${name}`).join(", "));
  return rules
    .filter((rule) => holdsAny(kinds, rule.kinds))
    .map(
      // The lateral join with `offset 0` forces an index scan per key, also on a table without statistics.
      ({ keys, condition }) => sql`
        select o.* from (${keys}) c cross join lateral (
          select ${selected} from ${order} o where ${condition} offset 0
        ) o`,
    );
}

const orderKinds = [
  "order_fulfilled",
  "order_cancelled",
  "order_status_read",
  "signature_read",
  "recipients_read",
] as const;

/** Orders that facts name by hash. */
export const byOrderHash = ({ changes }: FactWindow): AffectedBy => ({
  kinds: orderKinds,
  keys: sql`select distinct order_hash from ${changes} where kind in ${kindList(...orderKinds)}`,
  condition: sql`o.order_hash = c.order_hash`,
});

/** Open orders whose start or end time has passed. */
export function byClock(window: FactWindow): AffectedBy[] {
  const kinds = ["clock_ticked"] as const;
  const keys = sql`select ${clockAt(window)} as clock`;
  return [
    { kinds, keys, condition: sql`o.end_time <= c.clock and ${isOpen}` },
    { kinds, keys, condition: sql`o.start_time <= c.clock and o.reason = 'not_started'` },
  ];
}
