import { type RawBuilder, sql } from "kysely";
import { type OrderStatus, orderStatuses } from "#projections/domain/orders/order-status.ts";
import { isOpen } from "#projections/order-state/status-sql.ts";
import { hasEnded } from "./order-columns.ts";

/** The status of a list's orders, as shown at the time of the request. */
export type ListedStatus = OrderStatus | "all";

const open: readonly OrderStatus[] = ["active", "inactive"];

/** Whether a status is one of orders that may be filled, now or later. */
export function isOpenStatus(status: ListedStatus): boolean {
  return status !== "all" && open.includes(status);
}

/** The stored statuses that may be shown as one: an order that has ended since the last clock tick is still stored open. */
export function storedStatuses(status: ListedStatus): readonly OrderStatus[] {
  if (status === "all") return orderStatuses;
  return status === "expired" ? ["expired", ...open] : [status];
}

/** SQL: whether order `o` is stored with such a status, worded as the predicates of partial indexes. */
export function ofStatus(status: ListedStatus): RawBuilder<unknown> {
  if (isOpenStatus(status)) return sql`${isOpen} and o.status = ${status}`;
  const stored = storedStatuses(status);
  return stored.length === 1
    ? sql`o.status = ${stored[0]}`
    : sql`o.status = any (${stored}::text[])`;
}

/** SQL, after `ofStatus`: what the time adds to the stored status. */
export function timely(status: ListedStatus, now: Date): RawBuilder<unknown> {
  if (isOpenStatus(status)) return sql`and not ${hasEnded(now)}`;
  return status === "expired" ? sql`and (o.status = 'expired' or ${hasEnded(now)})` : sql``;
}
