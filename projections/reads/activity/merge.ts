import type { EventKey, EventRow } from "./read-events.ts";
import type { Found } from "./read-filter.ts";
import type { OrderRow } from "./read-orders.ts";

/** How far both sources have been told: what is older comes next. */
export type ActivityKey = { event: EventKey; order: bigint };

export type ActivityRow = { event: EventRow } | { order: OrderRow };

type Source<Row, Key> = {
  found: Found<Row, Key>;
  wrap: (row: Row) => ActivityRow;
  keyOf: (row: Row) => Key;
  /** The place before which a row comes next. */
  before: (row: Row) => Key;
  /** Before which nothing comes. */
  end: Key;
};

/** What comes next of a source; `row` is null where its rows end and more may follow. */
type Head = { at: Date; row: ActivityRow | null };

/**
 * Rows of both sources by time, newest first, an event before an order of the same moment; and the key of those that
 * follow, null: there are none. Each source keeps its own order, so that nothing is lost or repeated whatever its times
 * are. Of each `limit` + 1 rows are needed.
 */
export function mergeActivity(
  events: Found<EventRow, EventKey>,
  orders: Found<OrderRow, bigint>,
  { limit, since }: { limit: number; since: Date | null },
): { rows: ActivityRow[]; next: ActivityKey | null } {
  const [ofEvents, ofOrders] = [eventSource(events), orderSource(orders)];
  const rows: ActivityRow[] = [];
  let [told, taken] = [0, 0];
  const heads = () => [nextOf(ofEvents, told, since), nextOf(ofOrders, taken, since)] as const;
  let [event, order] = heads();
  while (rows.length < limit) {
    const head = newer(event, order);
    if (head === null || head.row === null) break;
    rows.push(head.row);
    if (head === event) told += 1;
    else taken += 1;
    [event, order] = heads();
  }
  const isOver = event === null && order === null;
  const next = { event: keyAfter(ofEvents, told), order: keyAfter(ofOrders, taken) };
  return { rows, next: isOver ? null : next };
}

function newer(event: Head | null, order: Head | null): Head | null {
  if (event === null || order === null) return event ?? order;
  return event.at >= order.at ? event : order;
}

function eventSource(found: Found<EventRow, EventKey>): Source<EventRow, EventKey> {
  const keyOf = ({ blockId, logIndex, subIndex }: EventKey) => ({ blockId, logIndex, subIndex });
  return {
    found,
    wrap: (event) => ({ event }),
    keyOf,
    before: (row) => ({ ...keyOf(row), subIndex: row.subIndex + 1 }),
    end: { blockId: 0n, logIndex: 0, subIndex: 0 },
  };
}

function orderSource(found: Found<OrderRow, bigint>): Source<OrderRow, bigint> {
  return {
    found,
    wrap: (order) => ({ order }),
    keyOf: ({ position }) => position,
    before: ({ position }) => position + 1n,
    end: 0n,
  };
}

function nextOf<Row extends { at: Date }, Key>(
  { found, wrap }: Source<Row, Key>,
  index: number,
  since: Date | null,
): Head | null {
  const row = found.rows[index];
  const at = row?.at ?? found.stoppedAt?.at;
  if (at === undefined || (since !== null && at < since)) return null;
  return { at, row: row === undefined ? null : wrap(row) };
}

function keyAfter<Row, Key>({ found, keyOf, before, end }: Source<Row, Key>, told: number): Key {
  const [last, first] = [found.rows[told - 1], found.rows[told]];
  if (first === undefined && found.stoppedAt !== null) return found.stoppedAt.key;
  if (last !== undefined) return keyOf(last);
  return first === undefined ? end : before(first);
}
