import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import type { Session } from "../../database.ts";
import { blockIdRange } from "../../log/block-id.ts";
import { bytea } from "../../sql/bytea.ts";
import { saleUsdE8 } from "../../sql/usd.ts";
import { collectionJoins } from "../orders/order-columns.ts";
import { type WashRule, washTradeOfSale } from "../sales/sale-columns.ts";
import {
  type ActivityFilter,
  cutAtStop,
  type EventType,
  eventTypeCount,
  eventTypesOf,
  isSingleScan,
  maxScannedRows,
  type ScanResult,
} from "./read-filter.ts";

/** An event's position in the order of its chain. */
export type EventKey = { blockId: bigint; logIndex: number; subIndex: number };

/** An event of a chain. Wei of `priceWei` are per unit; a cancel has a token if the order was known. */
export type EventRow = EventKey & {
  type: EventType;
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
  if (eventTypesOf(filter).length === 0) return { rows: [], stoppedAt: null };
  const { rows: found } = await sql<EventRow>`
    with page as materialized (
      select e.* from (${matching(filter, after, limit)}) e ${newestFirst} limit ${limit}
    )
    select ${eventColumns}
    from page o ${eventJoins}
    order by o.block_id desc, o.log_index desc, o.sub_index desc`.execute(session);
  const rows = found.map((row) => ofOneToken(row, filter.tokenId));
  const isFull = rows.length === limit && isSingleScan(filter, true);
  if (isFull || !skipsRows(filter)) return { rows, stoppedAt: null };
  return cutAtStop(rows, limit, isOlder, await readStop(session, filter, after));
}

/** Columns of `EventRow`, of a row `o` of activity.event with its joins. */
export const eventColumns = sql`
  o.block_id as "blockId", o.log_index as "logIndex", o.sub_index as "subIndex", o.type, b.timestamp as at,
  traded.address as contract, coalesce(main.address, traded.address) as "collectionAddress",
  c.slug as "collectionSlug", c.name as "collectionName", o.token_id as "tokenId", o.last_id as "lastId",
  o.quantity,
  o.from_address as "from", o.to_address as "to", o.price_wei as "priceWei", o.currency,
  ${saleUsdE8} as "priceUsdE8", s.marketplace,
  s.protocol, s.protocol_version as "protocolVersion", s.exchange, s.via, wash.rule as "washRule",
  s.sale_id as "saleId", o.order_hash as "orderHash", t.hash as "transactionHash",
  b.number as "blockNumber", b.hash as "blockHash"`;

/** SQL: joins what `eventColumns` needs. */
export const eventJoins = sql`
    ${collectionJoins}
    join log.block b on b.block_id = o.block_id
    join log.transaction t on t.block_id = o.block_id and t.transaction_index = o.transaction_index
    left join sales.sale s on o.type = 'sale' and s.block_id = o.block_id
      and s.transaction_index = o.transaction_index and s.ordinal = o.sub_index
    ${washTradeOfSale}`;

const newestFirst = sql`order by e.block_id desc, e.log_index desc, e.sub_index desc`;

/** Whether the filter skips rows of the scanned indexes. */
function skipsRows(filter: ActivityFilter): boolean {
  const { wallet, tokenId } = filter;
  return wallet !== null || tokenId !== null || eventTypesOf(filter).length < eventTypeCount;
}

/** Of a range, its part in the activity of one token. */
function ofOneToken(row: EventRow, tokenId: bigint | null): EventRow {
  if (tokenId === null || row.lastId === null) return row;
  return { ...row, tokenId, lastId: null, quantity: 1n };
}

/** The first matching rows of each index that has some of them. */
function matching(
  filter: ActivityFilter,
  after: EventKey | null,
  limit: number,
): RawBuilder<unknown> {
  const ofType = sql`e.type = any (${eventTypesOf(filter)}::text[])`;
  return scansOf(filter, after, (scan, matches) =>
    skipsRows(filter)
      ? sql`
        select * from (${scan} ${newestFirst} limit ${maxScannedRows}) e
        where ${ofType} and ${matches} ${newestFirst} limit ${limit}`
      : sql`${scan} ${newestFirst} limit ${limit}`,
  );
}

/** Where the scans stopped that reached their limit: no older row was read. */
async function readStop(
  session: Session,
  filter: ActivityFilter,
  after: EventKey | null,
): Promise<{ key: EventKey; at: Date } | null> {
  const ends = scansOf(
    filter,
    after,
    (scan) => sql`${scan} ${newestFirst} offset ${maxScannedRows - 1} limit 1`,
  );
  const { rows } = await sql<EventKey & { at: Date }>`
    select e.block_id as "blockId", e.log_index as "logIndex", e.sub_index as "subIndex", b.timestamp as at
    from (${ends}) e join log.block b using (block_id) ${newestFirst} limit 1`.execute(session);
  const [end] = rows;
  if (end === undefined) return null;
  const { at, ...key } = end;
  return { key, at };
}

type BuildQuery = (scan: RawBuilder<unknown>, matches: RawBuilder<unknown>) => RawBuilder<unknown>;

/** SQL: union of what `make` builds from each index scan that the filter needs. The scans share no rows. */
function scansOf(
  filter: ActivityFilter,
  after: EventKey | null,
  make: BuildQuery,
): RawBuilder<unknown> {
  const { wallet, contractIds, tokenId } = filter;
  const scan = (where: RawBuilder<unknown>) => sql`
    select e.* from activity.event e where ${where} ${afterKey(filter, after)}`;
  if (wallet !== null) return walletScans(wallet, contractIds, scan, make);
  if (contractIds === null) return make(scan(sql`true`), sql`true`);
  const ofContract =
    tokenId === null
      ? make(scan(sql`e.contract_id = one.contract_id`), sql`true`)
      : tokenScans(tokenId, scan, make);
  return sql`
    select e.* from unnest(${contractIds}::int[]) one (contract_id) cross join lateral (${ofContract}) e`;
}

/** Its own events, and the ranges that begin before it and hold it. */
function tokenScans(
  tokenId: bigint,
  scan: (where: RawBuilder<unknown>) => RawBuilder<unknown>,
  make: BuildQuery,
): RawBuilder<unknown> {
  const id = sql`${String(tokenId)}::numeric`;
  const own = make(scan(sql`e.contract_id = one.contract_id and e.token_id = ${id}`), sql`true`);
  const ranges = make(
    scan(sql`e.contract_id = one.contract_id and e.last_id is not null`),
    sql`e.token_id < ${id} and e.last_id >= ${id}`,
  );
  return sql`select * from (${own}) own union all select * from (${ranges}) ranges`;
}

/** A transfer of a wallet to itself is in one of the two scans only. */
function walletScans(
  wallet: Hex,
  contractIds: readonly number[] | null,
  scan: (where: RawBuilder<unknown>) => RawBuilder<unknown>,
  make: BuildQuery,
): RawBuilder<unknown> {
  const owner = sql`${bytea(wallet)}`;
  const ofCollection =
    contractIds === null ? sql`true` : sql`e.contract_id = any (${contractIds}::int[])`;
  const sent = make(scan(sql`e.from_address = ${owner} and e.type <> 'mint'`), ofCollection);
  const received = make(
    scan(sql`e.to_address = ${owner} and e.type <> 'burn'`),
    sql`${ofCollection} and e.from_address <> ${owner}`,
  );
  return sql`select * from (${sent}) sent union all select * from (${received}) received`;
}

/** Of the chain, and after the key. A second upper bound would make an index scan begin there. */
function afterKey({ chainId }: ActivityFilter, after: EventKey | null): RawBuilder<unknown> {
  const { from, to } = blockIdRange(chainId);
  const below =
    after === null
      ? sql`e.block_id < ${to}`
      : sql`(e.block_id, e.log_index, e.sub_index)
            < (${after.blockId}::bigint, ${after.logIndex}::int, ${after.subIndex}::int)`;
  return sql`and e.block_id >= ${from} and ${below}`;
}

/** Whether a row is older than a key. */
function isOlder(row: EventKey, key: EventKey): boolean {
  if (row.blockId !== key.blockId) return row.blockId < key.blockId;
  return row.logIndex === key.logIndex ? row.subIndex < key.subIndex : row.logIndex < key.logIndex;
}
