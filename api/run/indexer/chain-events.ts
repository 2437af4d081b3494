import type { Database } from "../../../projections/database.ts";
import type { MissingEvents } from "../../../projections/log/audit.ts";
import type { DecodedEvent } from "../../../projections/log/recording/ponder-events.ts";
import { readPoolCoinsOf } from "../../../projections/log/recording/pool-coins.ts";
import type { ChainClient } from "../../background/chain/clients.ts";
import {
  type ChainLog,
  fetchHeaders,
  fetchLogs,
  fetchTransactionCalls,
  type TransactionCall,
} from "../../background/chain/fetch-logs.ts";
import { fetchPoolCoins } from "../../background/chain/fetch-pool-coins.ts";
import { openTransferReader } from "../../background/chain/fetch-transfers.ts";
import { RpcFailure } from "../../background/chain/rpc.ts";
import type { EventSource } from "./indexed-sources.ts";
import { decodeArguments, type SourceFilter } from "./source-filters.ts";

/** An event of the indexed sources, decoded from the chain's logs. */
export type ChainEvent = Omit<ChainLog, "topics" | "data"> & {
  source: EventSource;
  name: string;
  args: Record<string, unknown>;
};

/** The events of a range that become facts; null where a node finds the range too long. */
export async function fetchEvents(
  client: ChainClient,
  filters: readonly SourceFilter[],
  { from, to }: { from: number; to: number },
): Promise<ChainEvent[] | null> {
  const due = filters.filter(({ source }) => source.firstBlock <= to);
  const queries = due.map(({ source, addresses, topics }) => ({
    addresses,
    topics,
    from: Math.max(from, source.firstBlock),
    to,
  }));
  if (queries.length === 0) return [];
  const found = await fetchLogs(client, queries);
  if (found === null) return null;
  return due.flatMap((filter, index) => eventsOf(filter, found[index] ?? []));
}

/** The events of one filter among these logs that become facts. */
export function eventsOf({ source, event }: SourceFilter, logs: readonly ChainLog[]): ChainEvent[] {
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

/** Events that the log lacks, as it is to hold them. */
export async function fetchMissing(
  db: Database,
  client: ChainClient,
  events: readonly ChainEvent[],
): Promise<MissingEvents> {
  const missing = await completeEvents(client, events);
  const coins = await readPoolCoinsOf(db, missing, (pools) => fetchPoolCoins(client, pools));
  return { missing, coins };
}

/** The rows that Ponder would have stored for these events, in the chain's order. */
async function completeEvents(
  client: ChainClient,
  events: readonly ChainEvent[],
): Promise<DecodedEvent[]> {
  const headers = await fetchHeaders(client, [...new Set(events.map((one) => one.blockNumber))]);
  const withCall = events.filter(isStoredWithCall);
  const calls = await fetchTransactionCalls(client, [
    ...new Set(withCall.map((one) => one.transactionHash)),
  ]);
  const sorted = events.toSorted(
    (a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex,
  );
  const transfers = await fetchTransfers(client, sorted);
  return sorted.map((event) => {
    const header = headers.get(event.blockNumber);
    if (header?.hash !== event.blockHash) {
      throw new RpcFailure(`Chain ${client.chainId} moved at block ${event.blockNumber}`);
    }
    const call = isStoredWithCall(event) ? calls.get(event.transactionHash) : undefined;
    return {
      ...event,
      source: event.source.name,
      chainId: client.chainId,
      blockTimestamp: header.timestamp.getTime() / 1000,
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

function callOf(call: TransactionCall | undefined) {
  if (call === undefined) return { sender: null, target: null, calldataTail: null };
  const { from, to, input } = call;
  const calldataTail = input.length >= 10 ? `0x${input.slice(-8)}` : null;
  return { sender: from, target: to, calldataTail };
}
