import { sql } from "kysely";
import type { Hex } from "viem";
import { collectionJoins } from "#projections/orders/read-orders.ts";
import { saleUsdE8 } from "../engine/usd.ts";
import { blockIdRange } from "../log/blocks.ts";
import type { Database, Session } from "../log/database.ts";
import { bytea } from "../log/sql-values.ts";
import {
  type SaleRow,
  saleColumns,
  saleNames,
  type WashRule,
  washTradeOfSale,
} from "../sales/read-sale.ts";
import {
  type ActivityEventType,
  type ActivityFilter,
  countScans,
  cutAtStop,
  type EventKey,
  type EventScan,
  eventScans,
  eventsWhere,
  matchingEvents,
  newestEventsFirst,
  type ScanResult,
  scanEnds,
} from "./read-event-scans.ts";

/** An event of a chain. Wei of `priceWei` are per unit; a cancel has a token if the order was known. */
export type EventRow = EventKey & {
  type: ActivityEventType;
  at: Date;
  contract: Hex | null;
  collectionAddress: Hex | null;
  collectionSlug: string | null;
  collectionName: string | null;
  tokenId: bigint | null;
  /** Of a range of ids; null: no range. */
  lastId: bigint | null;
  quantity: bigint | null;
  from: Hex | null;
  to: Hex | null;
  priceWei: bigint | null;
  /** Of a sale: of all units. */
  totalWei: bigint | null;
  currency: Hex | null;
  priceUsdE8: bigint | null;
  marketplace: string | null;
  /** Of a sale, as the next five. */
  protocol: string | null;
  protocolVersion: string | null;
  exchange: Hex | null;
  via: Hex | null;
  washRule: WashRule | null;
  saleId: Hex | null;
  orderHash: Hex | null;
  transactionHash: Hex;
  blockNumber: bigint;
  blockHash: Hex;
};

/** Events newest first, after a key. */
export async function readEvents(
  session: Session,
  filter: ActivityFilter,
  { after, limit }: { after: EventKey | null; limit: number },
): Promise<ScanResult<EventRow, EventKey>> {
  const scans = eventScans(filter, after);
  if (scans.length === 0) return { rows: [], stoppedAt: null };
  const { rows: found } = await sql<EventRow & { fullScans: string[] }>`
    with found as materialized (${matchingEvents(scans, filter, limit)}),
    page as materialized (select * from found e ${newestEventsFirst} limit ${limit}),
    full_scan as (select scan from found group by scan having count(*) = ${limit})
    select ${eventColumns}, array(select scan from full_scan) as "fullScans"
    from page o ${eventJoins}
    order by o.block_id desc, o.log_index desc, o.sub_index desc`.execute(session);
  const rows = found.map(({ fullScans, ...row }) => ofOneToken(row, filter.tokenId));
  const mayStop = scans.filter(({ skips }) => skips);
  const fullScans = (found[0]?.fullScans ?? []).filter((full) =>
    mayStop.some(({ name }) => full.startsWith(name)),
  );
  if (fullScans.length === countScans(mayStop, filter)) return { rows, stoppedAt: null };
  return cutAtStop(rows, limit, isOlder, await readStop(session, mayStop, { filter, fullScans }));
}

/** Columns of `EventRow`, of an event `o` with its joins. */
const eventColumns = sql`
  o.block_id as "blockId", o.log_index as "logIndex", o.sub_index as "subIndex", o.type, b.timestamp as at,
  traded.address as contract, coalesce(main.address, traded.address) as "collectionAddress",
  c.slug as "collectionSlug", c.name as "collectionName", o.token_id as "tokenId", o.last_id as "lastId",
  o.quantity,
  o.from_address as "from", o.to_address as "to", o.price_wei as "priceWei",
  s.total_wei as "totalWei", o.currency,
  ${saleUsdE8} as "priceUsdE8", s.marketplace,
  s.protocol, s.protocol_version as "protocolVersion", s.exchange, s.via, wash.rule as "washRule",
  s.sale_id as "saleId", o.order_hash as "orderHash", t.hash as "transactionHash",
  b.number as "blockNumber", b.hash as "blockHash"`;

/** SQL: joins what `eventColumns` needs. */
const eventJoins = sql`
    ${collectionJoins}
    join log.block b on b.block_id = o.block_id
    join log.transaction t on t.block_id = o.block_id and t.transaction_index = o.transaction_index
    left join sales.sale s on o.type = 'sale' and s.block_id = o.block_id
      and s.transaction_index = o.transaction_index and s.ordinal = o.sub_index
    ${washTradeOfSale}`;

/** Of a range, its part in the activity of one token. */
function ofOneToken(row: EventRow, tokenId: bigint | null): EventRow {
  if (tokenId === null || row.lastId === null) return row;
  return { ...row, tokenId, lastId: null, quantity: 1n };
}

/** Where the other scans stopped that read as many rows as they may: no older row was read. */
async function readStop(
  session: Session,
  scans: readonly EventScan[],
  { filter, fullScans }: { filter: ActivityFilter; fullScans: readonly string[] },
): Promise<{ key: EventKey; at: Date } | null> {
  const { rows } = await sql<EventKey & { at: Date }>`
    select e.block_id as "blockId", e.log_index as "logIndex", e.sub_index as "subIndex", b.timestamp as at
    from (${scanEnds(scans, filter, fullScans)}) e join log.block b using (block_id) ${newestEventsFirst} limit 1`.execute(
    session,
  );
  const [end] = rows;
  if (end === undefined) return null;
  const { at, ...key } = end;
  return { key, at };
}

/** Whether a row is older than a key. */
function isOlder(row: EventKey, key: EventKey): boolean {
  if (row.blockId !== key.blockId) return row.blockId < key.blockId;
  return row.logIndex === key.logIndex ? row.subIndex < key.subIndex : row.logIndex < key.logIndex;
}

/** Most rows of a transaction that are read, of each kind. */
export const maxTransactionRows = 200;

/**
 * What a transaction did, in its order: its events and its sales, one more of each than is shown. Of several live blocks
 * with it, as after a reorg that is not seen through yet, the highest.
 */
export async function readTransactionEvents(
  db: Database,
  chainId: number,
  hash: Hex,
): Promise<{ events: EventRow[]; sales: SaleRow[] }> {
  const { from, to } = blockIdRange(chainId);
  const place = sql`
    select t.block_id, t.transaction_index from log.transaction t
    where t.hash = ${bytea(hash)} and t.block_id >= ${from} and t.block_id < ${to} and exists (
      ${eventsWhere(isIn("t"))}
    )
    order by t.block_id desc limit 1`;
  const limit = maxTransactionRows + 1;
  const [events, sales] = await Promise.all([
    sql<EventRow>`
      with place as materialized (${place})
      select ${eventColumns}
      from place cross join lateral (
        ${eventsWhere(isIn("place"))}
      ) o ${eventJoins}
      order by o.log_index, o.sub_index limit ${limit}`.execute(db),
    sql<SaleRow>`
      with place as materialized (${place})
      select ${saleColumns()}
      from place join sales.sale s using (block_id, transaction_index) ${saleNames}
      order by s.ordinal limit ${limit}`.execute(db),
  ]);
  return { events: events.rows, sales: sales.rows };
}

const isIn = (transaction: string) => sql`
  e.block_id = ${sql.ref(`${transaction}.block_id`)}
  and e.transaction_index = ${sql.ref(`${transaction}.transaction_index`)}`;
