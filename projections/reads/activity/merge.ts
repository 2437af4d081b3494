import type { EventKey } from "./event-scans.ts";
import type { EventRow } from "./read-events.ts";
import type { ScanResult } from "./read-filter.ts";
import type { OrderRow } from "./read-orders.ts";

/** The last row of each source that was returned; older rows come next. */
export type ActivityKey = { event: EventKey; order: bigint };

export type ActivityRow = { event: EventRow } | { order: OrderRow };

type Source<Row, Key> = {
  found: ScanResult<Row, Key>;
  wrap: (row: Row) => ActivityRow;
  keyOf: (row: Row) => Key;
  /** The key before which the row comes first. */
  before: (row: Row) => Key;
  /** The key before which there are no rows. */
  end: Key;
};

/** The next row of a source; `row` is null where the scan stopped and more may follow. */
type Head = { at: Date; row: ActivityRow | null };

/**
 * Rows of both sources by time, newest first, an event before an order of the same time, and the key of the next page,
 * null: there is none. Each source stays in its own order, so that no row is lost or repeated whatever the times are.
 * Needs `limit` + 1 rows of each.
 */
export function mergeActivity(
  events: ScanResult<EventRow, EventKey>,
  orders: ScanResult<OrderRow, bigint>,
  { limit, since }: { limit: number; since: Date | null },
): { rows: ActivityRow[]; next: ActivityKey | null } {
  const [ofEvents, ofOrders] = [eventSource(events), orderSource(orders)];
  const rows: ActivityRow[] = [];
  let [eventCount, orderCount] = [0, 0];
  const heads = () =>
    [headOf(ofEvents, eventCount, since), headOf(ofOrders, orderCount, since)] as const;
  let [event, order] = heads();
  while (rows.length < limit) {
    const head = newerHead(event, order);
    if (head === null || head.row === null) break;
    rows.push(head.row);
    if (head === event) eventCount += 1;
    else orderCount += 1;
    [event, order] = heads();
  }
  const isOver = event === null && order === null;
  const next = { event: keyAfter(ofEvents, eventCount), order: keyAfter(ofOrders, orderCount) };
  return { rows, next: isOver ? null : next };
}

function newerHead(event: Head | null, order: Head | null): Head | null {
  if (event === null || order === null) return event ?? order;
  return event.at >= order.at ? event : order;
}

function eventSource(found: ScanResult<EventRow, EventKey>): Source<EventRow, EventKey> {
  const keyOf = ({ blockId, logIndex, subIndex }: EventKey) => ({ blockId, logIndex, subIndex });
  return {
    found,
    wrap: (event) => ({ event }),
    keyOf,
    before: (row) => ({ ...keyOf(row), subIndex: row.subIndex + 1 }),
    end: { blockId: 0n, logIndex: 0, subIndex: 0 },
  };
}

function orderSource(found: ScanResult<OrderRow, bigint>): Source<OrderRow, bigint> {
  return {
    found,
    wrap: (order) => ({ order }),
    keyOf: ({ position }) => position,
    before: ({ position }) => position + 1n,
    end: 0n,
  };
}

function headOf<Row extends { at: Date }, Key>(
  { found, wrap }: Source<Row, Key>,
  index: number,
  since: Date | null,
): Head | null {
  const row = found.rows[index];
  const at = row?.at ?? found.stoppedAt?.at;
  if (at === undefined || (since !== null && at < since)) return null;
  return { at, row: row === undefined ? null : wrap(row) };
}

function keyAfter<Row, Key>({ found, keyOf, before, end }: Source<Row, Key>, count: number): Key {
  const [last, first] = [found.rows[count - 1], found.rows[count]];
  if (first === undefined && found.stoppedAt !== null) return found.stoppedAt.key;
  if (last !== undefined) return keyOf(last);
  return first === undefined ? end : before(first);
}
