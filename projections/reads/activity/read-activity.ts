import type { Session } from "#projections/log/database.ts";
import { type ActivityKey, type ActivityRow, mergeActivity } from "./merge.ts";
import { readEvents } from "./read-events.ts";
import type { ActivityFilter } from "./read-filter.ts";
import { readOrders } from "./read-orders.ts";

export type ActivitySlice = {
  limit: number;
  after: ActivityKey | null;
  /** Older events and orders are not returned. */
  since: Date | null;
};

/**
 * Events of a chain and submitted orders, newest first; the session reads one snapshot. A page may be short or empty with more to
 * follow: for rare rows each page scans a bounded part of the history.
 */
export async function readActivity(
  session: Session,
  filter: ActivityFilter,
  { limit, after, since }: ActivitySlice,
): Promise<{ rows: ActivityRow[]; next: ActivityKey | null }> {
  const found = limit + 1;
  const events = await readEvents(session, filter, { after: after?.event ?? null, limit: found });
  const orders = await readOrders(session, filter, { before: after?.order ?? null, limit: found });
  return mergeActivity(events, orders, { limit, since });
}
