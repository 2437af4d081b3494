import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import { collectionJoins } from "#projections/orders/read-orders.ts";
import type { Session } from "../log/database.ts";
import { kindLiteral } from "../log/fact-kinds.ts";
import { bytea } from "../log/sql-values.ts";
import {
  type ActivityFilter,
  contractRows,
  cutAtStop,
  type EventKey,
  maxScannedRows,
  type OrderType,
  orderTypesOf,
  type ScanResult,
} from "./read-event-scans.ts";
import { type EventRow, readEvents } from "./read-events.ts";

type ActivitySlice = {
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

/** The last row of each source that was returned; older rows come next. */
export type ActivityKey = { event: EventKey; order: bigint };

export type ActivityRow = { event: EventRow } | { order: SubmittedOrderRow };

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
function mergeActivity(
  events: ScanResult<EventRow, EventKey>,
  orders: ScanResult<SubmittedOrderRow, bigint>,
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

function orderSource(
  found: ScanResult<SubmittedOrderRow, bigint>,
): Source<SubmittedOrderRow, bigint> {
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

/** A submitted order. Wei of `priceWei` are per unit. */
export type SubmittedOrderRow = {
  position: bigint;
  type: OrderType;
  at: Date;
  contract: Hex;
  collectionAddress: Hex;
  collectionSlug: string | null;
  collectionName: string | null;
  /** null: any token of the contract. */
  tokenId: bigint | null;
  quantity: bigint;
  maker: Hex;
  priceWei: bigint;
  /** null: native. */
  currency: Hex | null;
  orderHash: Hex;
  /** Unix seconds. */
  endTime: bigint;
};

/** Orders as they were submitted, newest first, before a position. */
export async function readOrders(
  session: Session,
  filter: ActivityFilter,
  { before, limit }: { before: bigint | null; limit: number },
): Promise<ScanResult<SubmittedOrderRow, bigint>> {
  if (orderTypesOf(filter).length === 0) return { rows: [], stoppedAt: null };
  const { rows } = await sql<SubmittedOrderRow>`
    select o.position, ${type} as type, o.recorded_at as at, traded.address as contract,
           coalesce(main.address, traded.address) as "collectionAddress", c.slug as "collectionSlug",
           c.name as "collectionName", o.token_id as "tokenId", o.amount as quantity, o.from_address as maker,
           (o.payload #>> '{terms,unitPriceWei}')::numeric as "priceWei",
           case when ${isBid} then decode(substr(o.payload #>> '{components,offer,0,token}', 3), 'hex') end as currency,
           o.order_hash as "orderHash", (o.payload #>> '{components,endTime}')::numeric as "endTime"
    from (select * from (${matching(filter, before, limit)}) f ${newestFirst} limit ${limit}) o ${collectionJoins}
    order by o.position desc`.execute(session);
  if (rows.length === limit && isSingleScan(filter)) return { rows, stoppedAt: null };
  return cutAtStop(
    rows,
    limit,
    ({ position }, key) => position < key,
    await readStop(session, filter, before),
  );
}

/** Whether the rows come from one scan, which did not stop early if it found the whole limit. */
const isSingleScan = ({ wallet, contractIds }: ActivityFilter): boolean =>
  wallet !== null || contractIds === null || contractIds.length === 1;

const newestFirst = sql`order by f.position desc`;
const isBid = sql`o.payload #>> '{terms,side}' = 'bid'`;
const type = sql`case when ${isBid} then 'offer' else 'listing' end`;

function matching(
  filter: ActivityFilter,
  before: bigint | null,
  limit: number,
): RawBuilder<unknown> {
  const sides = orderTypesOf(filter).map((one) => (one === "offer" ? "bid" : "ask"));
  const { chainId, contractIds } = filter;
  const ofCollection =
    contractIds === null ? sql`true` : sql`f.contract_id = any (${contractIds}::int[])`;
  return scansOf(
    filter,
    before,
    (scan) => sql`
      select f.* from (${scan} ${newestFirst} limit ${maxScannedRows}) f
      where f.payload #>> '{terms,side}' = any (${sides}::text[]) and ${ofCollection}
        and exists (
          select from log.contract k where k.contract_id = f.contract_id and k.chain_id = ${chainId} offset 0
        )
      ${newestFirst} limit ${limit}`,
  );
}

/** Where the scans stopped that reached their limit: no older row was read. */
async function readStop(
  session: Session,
  filter: ActivityFilter,
  before: bigint | null,
): Promise<{ key: bigint; at: Date } | null> {
  const ends = scansOf(
    filter,
    before,
    (scan) => sql`${scan} ${newestFirst} offset ${maxScannedRows - 1} limit 1`,
  );
  const { rows } = await sql<{ key: bigint; at: Date }>`
    select f.position as key, (select recorded_at from log.fact where position = f.position) as at
    from (${ends}) f ${newestFirst} limit 1`.execute(session);
  return rows[0] ?? null;
}

/** SQL: union of what `make` builds from each index scan that the filter needs. */
function scansOf(
  { wallet, contractIds, tokenId }: ActivityFilter,
  before: bigint | null,
  make: (scan: RawBuilder<unknown>) => RawBuilder<unknown>,
): RawBuilder<unknown> {
  const older = before === null ? sql`` : sql`and f.position < ${before}`;
  const scan = (where: RawBuilder<unknown>) => sql`
    select f.* from log.fact f where f.kind = ${kindLiteral("order_submitted")} and ${where} ${older}`;
  if (wallet !== null) return make(scan(sql`f.from_address = ${bytea(wallet)}`));
  if (contractIds === null) return make(scan(sql`true`));
  const ofToken = tokenId === null ? sql`` : sql`and f.token_id = ${tokenId}::numeric`;
  return sql`
    select f.* from ${contractRows(contractIds)}
    cross join lateral (${make(scan(sql`f.contract_id = one.contract_id ${ofToken}`))}) f`;
}
