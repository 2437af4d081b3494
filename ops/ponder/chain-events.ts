import { sql } from "kysely";
import type { Hex } from "viem";
import { z } from "zod";
import type { ChainClient } from "#jobs/chain/client.ts";
import type { ChainLog } from "#jobs/chain/fetch-logs.ts";
import { requestBatch } from "#jobs/chain/node-client.ts";
import { RpcFailure } from "#jobs/chain/rpc.ts";
import { fetchPoolCoins } from "#jobs/recording/fetch-pool-coins.ts";
import { openTransferReader } from "#jobs/recording/fetch-transfers.ts";
import { runConcurrently } from "#projections/engine/run-concurrently.ts";
import type { MissingEvents } from "#projections/log/audit.ts";
import type { Database } from "#projections/log/database.ts";
import { readPoolCoinsOf } from "#projections/log/recording/missing-transfers.ts";
import type { DecodedEvent } from "#projections/log/recording/ponder-events.ts";
import type { RpcLog } from "../reader/block-proof.ts";
import type { ChainReader } from "../reader/chain-reader.ts";
import { resultOrThrow } from "../reader/node-pool.ts";
import type { BlockReader } from "../reader/read-blocks.ts";
import type { BlockRange } from "../reader/read-range.ts";
import { type ChainEventSource, decodeArguments, type SourceFilter } from "./indexed-sources.ts";

/** An event of the indexed sources, decoded from the chain's logs. */
export type ChainEvent = Omit<ChainLog, "topics" | "data"> & {
  source: ChainEventSource;
  name: string;
  args: Record<string, unknown>;
};

/** Filters whose logs are read at a time. */
const concurrentFilters = 4;

/** The events of a range that become facts, in the chain's order. Throws `RpcFailure`. */
export async function readChainEvents(
  reader: Pick<ChainReader, "logs">,
  filters: readonly SourceFilter[],
  { from, to }: BlockRange,
): Promise<ChainEvent[]> {
  const events: ChainEvent[] = [];
  const due = filters.filter(({ source }) => source.firstBlock <= to);
  const read = async (filter: SourceFilter) => {
    const { addresses, topics, source } = filter;
    const range = { from: Math.max(from, source.firstBlock), to };
    const logs = await reader.logs({ address: addresses ?? undefined, topics }, range);
    events.push(...chainEventsOf(filter, logs.map(chainLogOf)));
  };
  await runConcurrently(due, read, undefined, concurrentFilters);
  return inChainOrder(events);
}

const inChainOrder = (events: readonly ChainEvent[]): ChainEvent[] =>
  events.toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex);

export function chainLogOf(log: RpcLog): ChainLog {
  const lower = (value: Hex) => value.toLowerCase() as Hex;
  return {
    address: lower(log.address),
    topics: log.topics.map(lower),
    data: lower(log.data),
    blockNumber: Number(log.blockNumber),
    blockHash: lower(log.blockHash),
    transactionHash: lower(log.transactionHash),
    transactionIndex: Number(log.transactionIndex),
    logIndex: Number(log.logIndex),
  };
}

/** The events of one filter among these logs that become facts. */
export function chainEventsOf(
  { source, event }: SourceFilter,
  logs: readonly ChainLog[],
): ChainEvent[] {
  return logs.flatMap(({ topics, data, ...log }): ChainEvent[] => {
    const args = decodeArguments(event, { topics, data });
    const { name } = event;
    if (args === null || (source.name === "Erc1155" && isEmptyBatch(args))) return [];
    if (Array.isArray(args.tokenIds) && args.tokenIds.length === 0) return [];
    return [{ ...log, source, name, args }];
  });
}

/** A batch is as long as the shorter of its lists; an empty one is no fact. */
function isEmptyBatch({ ids, values }: Record<string, unknown>): boolean {
  return Array.isArray(ids) && Array.isArray(values) && Math.min(ids.length, values.length) === 0;
}

/** Where the transactions and the blocks of events are read. */
type EventsRead = { client: ChainClient; blocks: Pick<BlockReader, "byNumbers"> };

/** Events that the log lacks, as it is to hold them. */
export async function fetchMissing(
  db: Database,
  read: EventsRead,
  events: readonly ChainEvent[],
): Promise<MissingEvents> {
  const missing = await completeEvents(read, events);
  const coins = await readPoolCoinsOf(db, missing, (pools) => fetchPoolCoins(read.client, pools));
  return { missing, coins };
}

/** The rows that Ponder would have stored for these events, in the chain's order. */
async function completeEvents(
  { client, blocks }: EventsRead,
  events: readonly ChainEvent[],
): Promise<DecodedEvent[]> {
  const numbers = [...new Set(events.map((one) => one.blockNumber))];
  const headers = new Map(
    (await blocks.byNumbers(numbers)).map((header) => [Number(header.number), header]),
  );
  const withCall = events.filter(isStoredWithCall);
  const calls = await fetchTransactionCalls(client, [
    ...new Set(withCall.map((one) => one.transactionHash)),
  ]);
  const sorted = inChainOrder(events);
  const transfers = await fetchTransfers(client, sorted);
  return sorted.map((event) => {
    const header = headers.get(event.blockNumber);
    if (header?.hash.toLowerCase() !== event.blockHash) {
      throw new RpcFailure(`Chain ${client.chainId} moved at block ${event.blockNumber}`);
    }
    const call = isStoredWithCall(event) ? calls.get(event.transactionHash) : undefined;
    return {
      ...event,
      source: event.source.name,
      chainId: client.chainId,
      blockTimestamp: Number(header.timestamp),
      ...callOf(call),
      transfers: transfers.get(event) ?? null,
    };
  });
}

/** The transfers of a transaction, by the first event of each source that is stored with them, or by each. */
async function fetchTransfers(
  client: ChainClient,
  sorted: readonly ChainEvent[],
): Promise<Map<ChainEvent, readonly unknown[]>> {
  const firsts = new Map<string, ChainEvent>();
  for (const event of sorted) {
    const { source, name, transactionHash, logIndex } = event;
    const key = `${transactionHash} ${source.name} ${source.isEachWithTransfers ? logIndex : ""}`;
    if (source.eventsWithTransfers?.includes(name) && !firsts.has(key)) firsts.set(key, event);
  }
  const refs = [...firsts.values()].map(({ transactionHash: hash, blockHash }) => ({
    hash,
    blockHash,
  }));
  if (refs.length === 0) return new Map();
  const found = await openTransferReader(client, []).fetch(refs);
  return new Map(
    [...firsts.values()].map((event) => [event, found.get(event.transactionHash) ?? []]),
  );
}

function isStoredWithCall({ source, name }: ChainEvent): boolean {
  return source.eventsWithCall.includes(name);
}

type TransactionCall = z.infer<typeof TransactionCall>;

function callOf(call: TransactionCall | undefined) {
  if (call === undefined) return { sender: null, target: null, calldataTail: null };
  const { from, to, input } = call;
  const calldataTail = input.length >= 10 ? `0x${input.slice(-8)}` : null;
  return { sender: from, target: to, calldataTail };
}

const hex = z
  .string()
  .regex(/^0x[0-9a-f]*$/i)
  .transform((text) => text.toLowerCase() as Hex);
const TransactionCall = z.object({ from: hex, to: hex.nullable(), input: hex });

async function fetchTransactionCalls(
  client: ChainClient,
  hashes: readonly Hex[],
): Promise<Map<Hex, TransactionCall>> {
  const calls = hashes.map((hash) => ({ method: "eth_getTransactionByHash", params: [hash] }));
  const answers = await requestBatch(client, calls);
  return new Map(
    hashes.map((hash, index) => [hash, TransactionCall.parse(resultOrThrow(answers[index]))]),
  );
}

const usualWidth = 2_000;

type Walk = {
  from: number;
  to: number;
  /** Blocks of a step; null: the usual number. */
  width: number | null;
};

/** Reads the events of a range of blocks in steps. */
export async function* walkEvents(
  reader: ChainReader,
  filters: readonly SourceFilter[],
  { from, to, width }: Walk,
): AsyncGenerator<{ range: { from: number; to: number }; events: ChainEvent[] }> {
  const step = width ?? usualWidth;
  for (let next = from; next <= to; next += step) {
    const range = { from: next, to: Math.min(next + step - 1, to) };
    yield { range, events: await readChainEvents(reader, filters, range) };
  }
}

/** The saved progress of a walk over a chain's blocks, from which an interrupted one continues. */
type ResumePoint<State> = {
  read(): Promise<State | null>;
  save(state: State & { next: number | null; to: number }): Promise<void>;
  /** Called when the walk is complete. */
  clear(): Promise<void>;
};

/** `command` identifies the walk: the same command continues, another one starts from the beginning. */
export function openResumePoint<Findings>(
  db: Database,
  chainId: number,
  command: string,
): ResumePoint<Findings> {
  return {
    async read() {
      const { rows } = await sql<{ findings: Findings }>`
        select findings from ops.audit where chain_id = ${chainId} and command = ${command}`.execute(
        db,
      );
      return rows[0]?.findings ?? null;
    },
    async save(findings) {
      await sql`
        insert into ops.audit (chain_id, command, next_number, last_number, findings, updated_at)
        values (${chainId}, ${command}, ${findings.next}, ${findings.to}, ${JSON.stringify(findings)}, now())
        on conflict (chain_id, command) do update
          set next_number = excluded.next_number, findings = excluded.findings, updated_at = excluded.updated_at
      `.execute(db);
    },
    async clear() {
      await sql`delete from ops.audit where chain_id = ${chainId} and command = ${command}`.execute(
        db,
      );
    },
  };
}
