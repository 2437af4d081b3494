import type { DecodedEvent } from "../../../projections/log/ponder-events.ts";
import type { ChainClient } from "../../work/chain/clients.ts";
import {
  type Call,
  type ChainLog,
  fetchCalls,
  fetchHeaders,
  fetchLogs,
} from "../../work/chain/fetch-logs.ts";
import { RpcFailure } from "../../work/chain/rpc-batch.ts";
import { readArguments, type SourceFilter } from "./source-filters.ts";

/** An event of the indexed sources, as the chain's own log tells it. */
export type ChainEvent = Omit<ChainLog, "topics" | "data"> & {
  name: string;
  args: Record<string, unknown>;
};

/** The events of a range that become facts; null where a node finds the range too long. */
export async function fetchEvents(
  client: ChainClient,
  filters: readonly SourceFilter[],
  { from, to }: { from: number; to: number },
): Promise<ChainEvent[] | null> {
  const due = filters.filter(({ fromBlock }) => fromBlock <= to);
  const queries = due.map(({ addresses, topics, fromBlock }) => ({
    addresses,
    topics,
    from: Math.max(from, fromBlock),
    to,
  }));
  if (queries.length === 0) return [];
  const found = await fetchLogs(client, queries);
  if (found === null) return null;
  return due.flatMap(({ event }, index) =>
    (found[index] ?? []).flatMap(({ topics, data, ...log }): ChainEvent[] => {
      const args = readArguments(event, { topics, data });
      return args === null || isEmptyBatch(args) ? [] : [{ ...log, name: event.name, args }];
    }),
  );
}

/** Of a batch with unequal lists the shorter counts; without an element it is no fact. */
function isEmptyBatch({ ids, values }: Record<string, unknown>): boolean {
  return Array.isArray(ids) && Array.isArray(values) && Math.min(ids.length, values.length) === 0;
}

/** The rows that the indexer would have made of these events, in the chain's order. */
export async function completeEvents(
  client: ChainClient,
  events: readonly ChainEvent[],
): Promise<DecodedEvent[]> {
  const headers = await fetchHeaders(client, [...new Set(events.map((one) => one.blockNumber))]);
  const fills = events.filter(({ name }) => name === "OrderFulfilled");
  const calls = await fetchCalls(client, [...new Set(fills.map((one) => one.transactionHash))]);
  return events
    .toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
    .map((event) => {
      const header = headers.get(event.blockNumber);
      if (header?.hash !== event.blockHash) {
        throw new RpcFailure(`Chain ${client.chainId} moved at block ${event.blockNumber}`);
      }
      const call = event.name === "OrderFulfilled" ? calls.get(event.transactionHash) : undefined;
      return {
        ...event,
        chainId: client.chainId,
        blockTimestamp: header.timestamp.getTime() / 1000,
        ...callOf(call),
      };
    });
}

function callOf(call: Call | undefined) {
  if (call === undefined) return { sender: null, target: null, calldataTail: null };
  const { from, to, input } = call;
  const calldataTail = input.length >= 10 ? `0x${input.slice(-8)}` : null;
  return { sender: from, target: to, calldataTail };
}
