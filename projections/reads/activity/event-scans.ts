import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import { blockIdRange } from "#projections/log/blocks.ts";
import { bytea } from "#projections/log/sql-values.ts";
import { columnsIn, isEventIn, isNoBurn, isNoMint, isOfOneId, isOfRange, isTransfer, tableOf, typeIn } from "./event-sources.ts";
import { type ActivityFilter, contractRows, type EventSource, eventTypesIn, eventTypesOf, maxScannedRows } from "./read-filter.ts";

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

export const newestFirst = sql`order by e.block_id desc, e.log_index desc, e.sub_index desc`;

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
const isHashed = (column: string, address: RawBuilder<unknown>): RawBuilder<unknown> =>
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
      ${newestFirst} limit ${limit}
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
    const rows = sql`select e.* from ${tableOf[scan.source]} e where ${scan.where} ${newestFirst}`;
    const label = sql.lit(scan.name);
    const name = byContract ? sql`${label} || ' ' || one.contract_id` : sql`${label}::text`;
    return sql`select * from (${make(scan, rows, name)}) e`;
  });
  const all = sql.join(parts, sql` union all `);
  if (!byContract) return all;
  return sql`
    select e.* from ${contractRows(filter.contractIds ?? [])} cross join lateral (${all}) e`;
}
