import { type RawBuilder, sql } from "kysely";
import type { Database } from "../database.ts";
import { kindLiteral } from "../fact-kinds.ts";
import {
  argumentsOf,
  type DecodedEvent,
  type EventSelection,
  type EventTransfers,
  transactionPrefixOf,
} from "./ponder-events.ts";
import {
  createsPool,
  isOfKnownPool,
  isOfPool,
  isPaidInPoolCoin,
  isPaidInPoolCoinSql,
  isPoolCreation,
  type PoolCoins,
  recordedFactory,
} from "./pools-and-punks.ts";

/** A transaction of a chain, in the block that its events say. Hex, lower case. */
export type TransactionRef = { readonly hash: string; readonly blockHash: string };

/** Reads the transfers of transactions, which some events are stored with. */
export type TransferReader = {
  /** The events, by source and name. `each`: not the first of a source and transaction alone. */
  readonly events: readonly {
    readonly source: string;
    readonly name: string;
    readonly each?: boolean;
  }[];
  /** Transfers by transaction hash, as JSON. Throws when the chain does not answer, or has no such transaction. */
  readonly fetch: (
    transactions: readonly TransactionRef[],
  ) => Promise<ReadonlyMap<string, readonly unknown[]>>;
};

type MissingRow = {
  id: string;
  blockNumber: bigint;
  blockHash: string;
  hash: string;
  logIndex: number;
  recorded: readonly unknown[] | null;
};

/** The event that the next pass begins with. */
type NextEvent = Pick<MissingRow, "id" | "blockNumber">;

type Limited = {
  found: EventTransfers[];
  /** The first event of the next block; null: the selection has no more. */
  next: NextEvent | null;
};

/** Events whose transactions are read at once, before their transfers are counted. */
const BATCH = 50;

/**
 * Of the selected events those that are the first of their source and transaction to be stored with transfers, or each
 * of which is, and that the log does not hold, with the transfers: from the log, where another event of the transaction
 * has them, else from the reader, each transaction once. An event of a pool that no factory created is stored without.
 *
 * Ends with the block in which `limit` transfers are reached, as whoever sends a transaction pays little for each.
 */
export async function readMissingTransfers(
  db: Database,
  schema: string,
  selection: EventSelection,
  { events, fetch }: TransferReader,
  limit: number,
): Promise<Limited> {
  const { rows } = await selectMissing(schema, selection, events, limit).execute(db);
  const found: EventTransfers[] = [];
  let count = 0;
  let fetched: ReadonlyMap<string, readonly unknown[]> = new Map();
  for (const [index, row] of rows.entries()) {
    const { id, blockNumber, blockHash, hash, logIndex, recorded } = row;
    const isNextBlock = blockHash !== rows[index - 1]?.blockHash;
    if (count >= limit && isNextBlock) return { found, next: { id, blockNumber } };
    if (index % BATCH === 0) fetched = await fetchUnknown(rows.slice(index, index + BATCH), fetch);
    const transfers = recorded ?? fetched.get(hash);
    if (transfers === undefined) throw new Error(`no transfers were read of transaction ${hash}`);
    found.push({ blockHash, hash, logIndex, transfers });
    count += transfers.length;
  }
  return { found, next: null };
}

async function fetchUnknown(
  rows: readonly MissingRow[],
  fetch: TransferReader["fetch"],
): ReturnType<TransferReader["fetch"]> {
  const unknown = rows.filter(({ recorded }) => recorded === null);
  const wanted = new Map(unknown.map(({ hash, blockHash }) => [hash, { hash, blockHash }]));
  return wanted.size === 0 ? new Map() : await fetch([...wanted.values()]);
}

function selectMissing(
  schema: string,
  { after, upTo, blockHashes, condition }: EventSelection,
  events: TransferReader["events"],
  limit: number,
): RawBuilder<MissingRow> {
  const table = sql.table(`${schema}.event`);
  const isStoredWithTransfers = (alias: string) => {
    const source = sql.ref(`${alias}.source`);
    return sql`
      (${source}, ${sql.ref(`${alias}.name`)}) in (
        select * from unnest(${events.map((one) => one.source)}::text[], ${events.map((one) => one.name)}::text[]))
      and (not ${isOfPool(source)} or ${isOfKnownPool(alias)})`;
  };
  const sources = [...new Set(events.map(({ source }) => source))];
  const each = events.filter((one) => one.each).map(({ source }) => source);
  // Few events are stored with transfers: all others are left out before anything is looked up for them, as a block may
  // have thousands of events and facts.
  return sql<MissingRow>`
    with selected as materialized (
      select event.* from ${table} event
      where event.id > ${after} and event.id <= ${upTo} and event.block_hash = any (${blockHashes}::text[])
        and (event.source = any (${sources}::text[]) or ${createsPool(sql`event.source`)}) and ${condition}
    ), created as materialized (
      select ${argumentsOf(sql`event.args`)} ->> 'pool' as pool from selected event
      where ${createsPool(sql`event.source`)}
    ), wanted as materialized (
      select event.* from selected event
      where ${isStoredWithTransfers("event")} and (
        event.source = any (${each}::text[]) or not exists (
          select from ${table} p
          where p.id >= ${transactionPrefixOf("event.id")} and p.id < event.id and p.source = event.source
            and ${isStoredWithTransfers("p")}
        )
      )
    ), missing as (
      select event.id, event.block_number as "blockNumber", event.block_hash as "blockHash",
             event.transaction_hash as hash, event.log_index as "logIndex", recorded.transfers,
             sum(jsonb_array_length(recorded.transfers)) over (order by event.id) as count
      from wanted event
      left join log.block b on b.chain_id = event.chain_id
        and b.hash = decode(substr(event.block_hash, 3), 'hex')
      left join lateral (
        select f.payload -> 'transfers' as transfers from log.fact f
        where f.block_id = b.block_id and f.log_index is not null and f.transaction_index = event.transaction_index
          and f.kind = ${kindLiteral("exchange_event")} and f.payload ? 'transfers'
        limit 1
      ) recorded on true
      where not exists (
        select from log.fact f
        where f.block_id = b.block_id and f.log_index = event.log_index and f.sub_index = 0
      )
    )
    -- What is beyond the limit is not read into memory: it is left to the next pass, or read from the chain.
    select id, "blockNumber", "blockHash", hash, "logIndex",
           case when count - jsonb_array_length(transfers) < ${limit} then transfers end as recorded
    from missing order by id`;
}

/** Reads what pools are paid in, of each. Throws when the chain does not answer. */
export type PoolCoinReader = (pools: readonly string[]) => Promise<PoolCoins>;

/**
 * What the pools are paid in that have selected events which the log does not hold. A pool that no factory created is not
 * asked: its code is anybody's.
 */
export async function readMissingPoolCoins(
  db: Database,
  schema: string,
  { after, upTo, blockHashes, condition }: EventSelection,
  read: PoolCoinReader,
): Promise<PoolCoins> {
  const { rows } = await sql<{ pool: string }>`
    with selected as materialized (
      select event.* from ${sql.table(`${schema}.event`)} event
      where event.id > ${after} and event.id <= ${upTo} and event.block_hash = any (${blockHashes}::text[])
        and (${isPaidInPoolCoinSql(sql`event.source`)} or ${createsPool(sql`event.source`)}) and ${condition}
    ), created as materialized (
      select ${argumentsOf(sql`event.args`)} ->> 'pool' as pool from selected event
      where ${createsPool(sql`event.source`)}
    )
    select distinct event.address as pool from selected event
    left join log.block b on b.chain_id = event.chain_id and b.hash = decode(substr(event.block_hash, 3), 'hex')
    where ${isPaidInPoolCoinSql(sql`event.source`)} and ${isOfKnownPool("event")}
      and not exists (
        select from log.fact f
        where f.block_id = b.block_id and f.log_index = event.log_index and f.sub_index = 0
      )
    order by 1`.execute(db);
  return rows.length === 0 ? {} : await read(rows.map(({ pool }) => pool));
}

/** The same of events that were fetched from the chain. */
export async function readPoolCoinsOf(
  db: Database,
  events: readonly DecodedEvent[],
  read: PoolCoinReader,
): Promise<PoolCoins> {
  const created = events.flatMap(({ source, args }) => (isPoolCreation(source) ? args.pool : []));
  const pools = events.filter(({ source }) => isPaidInPoolCoin(source));
  if (pools.length === 0) return {};
  const refs = pools.map(({ chainId: chain_id, address }) => ({ chain_id, address }));
  const { rows } = await sql<{ pool: string }>`
    select distinct e.address as pool
    from jsonb_to_recordset(${JSON.stringify(refs)}::jsonb) as e (chain_id integer, address text)
    where e.address = any (${created}::text[]) or ${recordedFactory("e")} is not null
    order by 1`.execute(db);
  return rows.length === 0 ? {} : await read(rows.map(({ pool }) => pool));
}
