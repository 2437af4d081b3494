import { LRUCache } from "lru-cache";
import type { Hex } from "viem";
import { filterValues, isLogOf, type LogsFilter, type RpcLog } from "./block-proof.ts";
import type { ChainReader } from "./chain-reader.ts";
import { type BlockRange, inChainOrder } from "./read-range.ts";

/** Addresses in one request: nodes refuse many. */
const mostAddresses = 200;
/** An indexer asks for one range by each of its filters, one soon after the other. */
const kept = { logs: 200_000, ms: 60_000, ranges: 10_000 };

type ReadLogs = ChainReader["logs"];

/**
 * The logs of a range by one filter of an indexer after the other, from one reading by all that it indexes: nodes are asked a
 * few times for a range, not once for each filter. What is not indexed, and a range of which too much was to be kept, is read
 * by its filter alone.
 */
export function openIndexedLogs(read: ReadLogs, indexed: readonly LogsFilter[]): ReadLogs {
  const filters = mergeFilters(indexed);
  const covers = coverageOf(indexed);
  const ranges = new LRUCache<string, true>({ max: kept.ranges });
  const running = new Map<string, Promise<RpcLog[]>>();
  const readings = new LRUCache<string, RpcLog[]>({
    ...{ maxSize: kept.logs, ttl: kept.ms, ttlAutopurge: true },
    sizeCalculation: ({ length }) => length + 1,
  });
  const readAll = async (key: string, range: BlockRange) => {
    const parts = await Promise.all(filters.map((filter) => read(filter, range)));
    const logs = inChainOrder(onePerPlace(parts.flat()));
    readings.set(key, logs);
    ranges.set(key, true);
    return logs;
  };
  return async (filter, range) => {
    const key = `${range.from} ${range.to}`;
    let logs = readings.get(key) ?? running.get(key);
    if (logs === undefined) {
      if (!covers(filter) || ranges.has(key)) return await read(filter, range);
      logs = readAll(key, range).finally(() => running.delete(key));
      running.set(key, logs);
    }
    return (await logs).filter((log) => isLogOf(filter, log));
  };
}

/**
 * As few filters as select the same logs. An event of so many indexed arguments keeps them as topics of any value: the
 * `Transfer` of an ERC-721 has four topics, that of an ERC-20, by far the most logs of a chain, has three. Of named contracts
 * there are few logs: one filter selects all their events, and some that are not indexed.
 */
export function mergeFilters(filters: readonly LogsFilter[]): LogsFilter[] {
  const groups = Map.groupBy(filters, ({ address, topics = [] }) => {
    const [, ...others] = topics;
    const isAny = others.every((topic) => topic === null);
    return address === undefined || !isAny ? JSON.stringify([!address, others]) : "of contracts";
  });
  return [...groups].flatMap(([kind, group]) => {
    const selectors = unique(
      group.flatMap(({ topics: [selector] = [] }) => filterValues(selector)),
    );
    const others = kind === "of contracts" ? [] : (group[0]?.topics ?? []).slice(1);
    const topics = [selectors, ...others];
    const addresses = unique(group.flatMap(({ address }) => filterValues(address)));
    if (addresses.length === 0) return [{ topics }];
    const starts = [...addresses.keys()].filter((nth) => nth % mostAddresses === 0);
    return starts.map((nth) => ({ address: addresses.slice(nth, nth + mostAddresses), topics }));
  });
}

const unique = (values: readonly Hex[]): Hex[] => [...new Set(values)];

/** Whether an indexer can decode no other logs of a filter than those of its own filters. */
function coverageOf(indexed: readonly LogsFilter[]): (filter: LogsFilter) => boolean {
  const anyContract = "any";
  const known = new Set(
    indexed.flatMap(({ address, topics: [selector] = [] }) =>
      filterValues(selector).flatMap((one) =>
        (address === undefined ? [anyContract] : filterValues(address)).map((of) =>
          eventOf(of, one),
        ),
      ),
    ),
  );
  return ({ address, topics: [selector] = [] }) => {
    const [selectors, addresses] = [filterValues(selector), filterValues(address)];
    const isKnown = (one: Hex) =>
      known.has(eventOf(anyContract, one)) ||
      (addresses.length > 0 && addresses.every((of) => known.has(eventOf(of, one))));
    return selectors.length > 0 && selectors.every(isKnown);
  };
}

const eventOf = (contract: string, selector: Hex) => `${contract} ${selector}`.toLowerCase();

/** A log that two filters select may come from two nodes, in whose own words it need not be the same. */
function onePerPlace(logs: readonly RpcLog[]): RpcLog[] {
  return [...new Map(logs.map((log) => [`${log.blockHash} ${log.logIndex}`, log])).values()];
}
