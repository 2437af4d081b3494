import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import { blockIdRange } from "../log/blocks.ts";
import { kindList, kindLiteral } from "../log/fact-kinds.ts";
import { bytea, isBurnAddress, zeroAddress } from "../log/sql-values.ts";
import { schemaOf } from "../log/versions.ts";

/** An event's position in the order of its chain. */
export type EventKey = { blockId: bigint; logIndex: number; subIndex: number };

/** A walk along an index in the order of the chain, and which of its rows match. No two share a row. */
export type EventScan = {
  name: string;
  source: EventSource;
  /** Conditions of the index. */
  where: RawBuilder<unknown>;
  matches: RawBuilder<unknown>;
  /** Whether it may read rows that do not match, and so stop before its end. */
  skips: boolean;
};

type Walk = Omit<EventScan, "skips">;

export const newestEventsFirst = sql`order by e.block_id desc, e.log_index desc, e.sub_index desc`;

/** The scans that a filter needs after a key. Each is made for every contract of a collection, `one.contract_id`. */
export function eventScans(filter: ActivityFilter, after: EventKey | null): readonly EventScan[] {
  const sources = Object.keys(eventTypesIn).filter(isSource);
  return sources
    .filter((source) => eventTypesOf(filter, source).length > 0)
    .flatMap((source) => scansIn(source, filter))
    .map((scan) => ({
      ...scan,
      where: sql`${scan.where} ${afterKey(filter, after)}`,
      skips: skipsRows(scan, filter),
    }));
}

/** The log has facts of retracted blocks, and those that the projection has not reached. */
function skipsRows({ source, matches }: Walk, filter: ActivityFilter): boolean {
  const isOfAllTypes = eventTypesOf(filter, source).length === eventTypesIn[source].length;
  return source === "log" || matches !== anyRow || !isOfAllTypes;
}

const anyRow = sql`true`;

const isSource = (name: string): name is EventSource => name in eventTypesIn;

function scansIn(source: EventSource, filter: ActivityFilter): Walk[] {
  const { wallet, contractIds, tokenId } = filter;
  if (wallet !== null) return walletScans(source, wallet, contractIds);
  if (contractIds === null) return [chainScan(source)];
  const ofContract = sql`e.contract_id = one.contract_id`;
  if (tokenId !== null) return tokenScans(source, ofContract, tokenId);
  const where = source === "log" ? sql`${ofContract} and ${isTransfer}` : ofContract;
  return [{ name: `${source} contract`, source, where, matches: anyRow }];
}

/** In the log among events of other kinds. */
function chainScan(source: EventSource): Walk {
  const where = source === "log" ? sql`e.log_index is not null` : sql`true`;
  return { name: `${source} chain`, source, where, matches: anyRow };
}

/** A token's own events, and the ranges that begin before it and hold it. */
function tokenScans(source: EventSource, ofContract: RawBuilder<unknown>, tokenId: bigint): Walk[] {
  const id = sql`${String(tokenId)}::numeric`;
  const ofToken = sql`${ofContract} and e.token_id = ${id}`;
  const all = { source, matches: anyRow };
  if (source !== "log") return [{ ...all, name: `${source} token`, where: ofToken }];
  const holds = sql`(e.token_id = ${id} or e.token_id < ${id} and e.token_id + e.amount > ${id})`;
  return [
    { ...all, name: "log token", where: sql`${ofToken} and ${isOfOneId}` },
    { source, name: "log range", where: sql`${ofContract} and ${isOfRange}`, matches: holds },
  ];
}

/** What left a wallet and what came to it; an event from a wallet to itself is among the first. */
function walletScans(
  source: EventSource,
  wallet: Hex,
  contractIds: readonly number[] | null,
): Walk[] {
  const owner = sql`${bytea(wallet)}`;
  const ofCollection =
    contractIds === null ? sql`true` : sql`e.contract_id = any (${contractIds}::int[])`;
  const by = {
    log: {
      sent: sql`${isHashed("from_address", owner)} and ${isTransfer} and ${isNoMint}`,
      received: sql`${isHashed("to_address", owner)} and ${isTransfer} and ${isNoBurn}`,
    },
    sales: { sent: sql`e.from_address = ${owner}`, received: sql`e.to_address = ${owner}` },
    activity: { sent: sql`e.from_address = ${owner}`, received: null },
  }[source];
  const sent = sql`${ofCollection} and e.from_address = ${owner}`;
  const received = sql`${ofCollection} and e.to_address = ${owner} and e.from_address <> ${owner}`;
  const ofSent = { name: `${source} sent`, source, where: by.sent, matches: sent };
  if (by.received === null) return [ofSent];
  return [ofSent, { name: `${source} received`, source, where: by.received, matches: received }];
}

/** By the index on an address's hash. Together with the address itself the planner would expect no row. */
export const isHashed = (column: string, address: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`hashbyteaextended(${sql.ref(`e.${column}`)}, 0) = hashbyteaextended(${address}, 0)`;

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

/** SQL: the first matching events of each scan, and the `scan`. */
export function matchingEvents(
  scans: readonly EventScan[],
  filter: ActivityFilter,
  limit: number,
): RawBuilder<unknown> {
  return overScans(
    scans,
    filter,
    ({ source, matches }, rows, name) => sql`
    select ${name} as scan, ${columnsIn[source]}
    from (
      select e.* from (${rows} limit ${maxScannedRows}) e
      where ${isEventIn[source]} and ${matches} and ${typeIn[source]} = any (${eventTypesOf(filter, source)}::text[])
      ${newestEventsFirst} limit ${limit}
    ) e`,
  );
}

/** SQL: the last rows that scans may read, of those that reach so far, without some scans. */
export function scanEnds(
  scans: readonly EventScan[],
  filter: ActivityFilter,
  without: readonly string[],
): RawBuilder<unknown> {
  return overScans(
    scans,
    filter,
    (_scan, rows, name) => sql`
    select e.block_id, e.log_index, e.sub_index from (${rows} offset ${maxScannedRows - 1} limit 1) e
    where ${name} <> all (${without}::text[])`,
  );
}

/** How many scans are made: of a collection, each in every contract. */
export const countScans = (scans: readonly EventScan[], filter: ActivityFilter): number =>
  scans.length * (isByContract(filter) ? (filter.contractIds?.length ?? 1) : 1);

const isByContract = ({ wallet, contractIds }: ActivityFilter): boolean =>
  wallet === null && contractIds !== null;

/** SQL: union of what `make` builds from each scan's rows, newest first, and its name. */
function overScans(
  scans: readonly EventScan[],
  filter: ActivityFilter,
  make: (
    scan: EventScan,
    rows: RawBuilder<unknown>,
    name: RawBuilder<unknown>,
  ) => RawBuilder<unknown>,
): RawBuilder<unknown> {
  const byContract = isByContract(filter);
  const parts = scans.map((scan) => {
    const rows = sql`select e.* from ${tableOf[scan.source]} e where ${scan.where} ${newestEventsFirst}`;
    const label = sql.lit(scan.name);
    const name = byContract ? sql`${label} || ' ' || one.contract_id` : sql`${label}::text`;
    return sql`select * from (${make(scan, rows, name)}) e`;
  });
  const all = sql.join(parts, sql` union all `);
  if (!byContract) return all;
  return sql`
    select e.* from ${contractRows(filter.contractIds ?? [])} cross join lateral (${all}) e`;
}

/** SQL of events where they stand; rows are `e`. */
const tableOf = {
  log: sql`log.fact`,
  sales: sql`(select *, ordinal as sub_index, seller as from_address, buyer as to_address from sales.sale)`,
  activity: sql`(select *, maker as from_address from activity.cancel)`,
};

export const isTransfer = sql`e.kind in ${kindList("erc721_transfer", "erc721_consecutive_transfer", "erc1155_transfer")}`;
/** ERC-721 and ERC-1155; ranges apart. */
const isOfOneId = sql`e.kind in ${kindList("erc721_transfer", "erc1155_transfer")}`;
const consecutive = kindLiteral("erc721_consecutive_transfer");
const isOfRange = sql`e.kind = ${consecutive}`;
/** As partial indexes word it: a mint is not the zero address's, a burn not that of the address that it goes to. */
export const isNoMint = sql`e.from_address <> ${zeroAddress}`;
export const isNoBurn = sql`(e.from_address = ${zeroAddress} or not ${isBurnAddress(sql`e.to_address`)})`;

/** A range that ends before it begins holds no id: the log keeps the event, nothing has moved. */
const movesIds = sql`(not ${isOfRange} or e.amount > 0)`;
const hasLastId = sql`${isOfRange} and e.amount > 1`;
const transferType = sql`
  case when e.from_address = ${zeroAddress} then 'mint' when ${isBurnAddress(sql`e.to_address`)} then 'burn' else 'transfer' end`;

const typeIn = { log: transferType, sales: sql`'sale'`, activity: sql`'cancel'` };

/** An event's columns; `last_id` is that of a range. */
const columnsIn = {
  log: sql`
    e.block_id, e.log_index, e.sub_index, e.transaction_index, e.contract_id, ${transferType} as type, e.token_id,
    case when ${hasLastId} then e.token_id + e.amount - 1 end as last_id,
    case when e.kind = ${kindLiteral("erc721_transfer")} then 1 else e.amount end as quantity, null::numeric as price_wei,
    e.from_address, e.to_address, null::bytea as currency, null::bytea as order_hash`,
  sales: sql`
    e.block_id, e.log_index, e.sub_index, e.transaction_index, e.contract_id, 'sale' as type, e.token_id,
    null::numeric as last_id, e.quantity, e.price_wei, e.from_address, e.to_address, e.currency, e.order_hash`,
  activity: sql`
    e.block_id, e.log_index, e.sub_index, e.transaction_index, e.contract_id, 'cancel' as type, e.token_id,
    null::numeric as last_id, null::numeric as quantity, null::numeric as price_wei, e.from_address,
    null::bytea as to_address, null::bytea as currency, e.order_hash`,
};

/** A release that is being replaced may move its own sales alone. */
const appliedUpTo = sql`(
  select min(c.position) from engine.checkpoint c
  where c.projection in (${sql.lit(schemaOf("activity"))}, ${sql.lit(schemaOf("sales"))})
)`;

/** Whether a fact is effective where the projections stand, so that all of a page is of one position. */
const isEffective = sql`
  e.position <= ${appliedUpTo} and (
    select s.kind from log.fact s
    where s.block_id = e.block_id and s.kind in ${kindList("block_retracted", "block_readopted")}
      and s.position <= ${appliedUpTo}
    order by s.position desc limit 1
  ) is distinct from ${kindLiteral("block_retracted")}`;

/** Whether a row is an event. */
export const isEventIn = {
  log: sql`${isTransfer} and ${movesIds} and ${isEffective}`,
  sales: sql`true`,
  activity: sql`true`,
};

/**
 * SQL: the events `e` for which a condition holds. It stands in each part: PostgreSQL does not move the conditions of a
 * join into the parts of a union.
 */
export const eventsWhere = (condition: RawBuilder<unknown>) => sql`
  select ${columnsIn.log} from log.fact e where ${condition} and e.log_index is not null and ${isEventIn.log}
  union all
  select ${columnsIn.sales} from ${tableOf.sales} e where ${condition}
  union all
  select ${columnsIn.activity} from ${tableOf.activity} e where ${condition}`;

/** Types of submitted orders. */
const orderTypes = ["listing", "offer"] as const;
/** Of events, by where they stand: transfers in the log, sales and cancels in projections. */
const eventTypesIn = {
  log: ["transfer", "mint", "burn"],
  sales: ["sale"],
  activity: ["cancel"],
} as const;
type EventSource = keyof typeof eventTypesIn;

export const activityTypes = ["sale", "transfer", "mint", "burn", "cancel", ...orderTypes] as const;
export type ActivityType = (typeof activityTypes)[number];

export type ActivityEventType = (typeof eventTypesIn)[EventSource][number];
export type OrderType = (typeof orderTypes)[number];

export type ActivityFilter = {
  chainId: number;
  /** null: all. */
  types: readonly ActivityType[] | null;
  /** A collection's contracts; null: the whole chain. */
  contractIds: readonly number[] | null;
  /** With `contractIds` and without a wallet: of one token, in ranges too. */
  tokenId: bigint | null;
  /** On either side. */
  wallet: Hex | null;
};

/** Rows of one source newest first, and where the scan stopped before the source's end; null: there are no more rows. */
export type ScanResult<Row, Key> = { rows: Row[]; stoppedAt: ScanStop<Key> | null };
type ScanStop<Key> = { key: Key; at: Date };

/** Of the first rows of several scans those that come before the point where the first of them stopped. */
export function cutAtStop<Row, Key>(
  rows: Row[],
  limit: number,
  isOlder: (row: Row, key: Key) => boolean,
  stop: ScanStop<Key> | null,
): ScanResult<Row, Key> {
  if (stop === null) return { rows, stoppedAt: null };
  const complete = rows.filter((row) => !isOlder(row, stop.key));
  return { rows: complete, stoppedAt: complete.length === limit ? null : stop };
}

/**
 * SQL: contracts as rows `one (contract_id)`. Of an array the planner expects ten, and plans a statement anew each time
 * where that costs more than the array at hand.
 */
export function contractRows(contractIds: readonly number[]): RawBuilder<unknown> {
  const [only, ...others] = contractIds;
  return only !== undefined && others.length === 0
    ? sql`(select ${only}::int as contract_id) one`
    : sql`unnest(${contractIds}::int[]) one (contract_id)`;
}

/** Rows of an index that one scan reads at most: matching rows may be rare. */
export const maxScannedRows = 10_000;

/** Those of a source that a filter asks for. */
function eventTypesOf(
  { types }: ActivityFilter,
  source: EventSource,
): readonly ActivityEventType[] {
  return eventTypesIn[source].filter((type) => types === null || types.includes(type));
}

export function orderTypesOf({ types }: ActivityFilter): readonly OrderType[] {
  return orderTypes.filter((type) => types === null || types.includes(type));
}
