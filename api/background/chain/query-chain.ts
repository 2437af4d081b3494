import type { ChainReading, ReadingBasis } from "#projections/log/readings.ts";
import { type CallOutcome, type ChainCall, callKey } from "./calls/chain-call.ts";
import { type ExecutionOptions, executeCalls } from "./calls/execute-calls.ts";
import { type ChainQuery, isReading, type QueryByKind, type QueryKind, type QueryResult, queryKey, type ResultByKind } from "./chain-query.ts";
import type { ChainClient } from "./clients.ts";
import { BasisReorged, fetchReadBasis, type ReadBasis } from "./contract-calls.ts";
import { queryCodecs } from "./query-codecs.ts";

/** Results of queries, all at the end of one block. */
export type ChainResults = {
  basis: ReadingBasis;
  /** The results that can be recorded, one for each subject. */
  readings: ChainReading[];
  /** Undefined: no result from the node, or the contracts' results are inconclusive. */
  find<const Wanted extends ChainQuery>(query: Wanted): ResultByKind[Wanted["kind"]] | undefined;
};

/** Runs any number of queries at the chain's latest block, in as few requests as possible. Throws `RpcFailure`. */
export async function queryChain(
  client: ChainClient,
  queries: readonly ChainQuery[],
  options: BatchSettings = {},
): Promise<ChainResults> {
  return resultsFor(await runBatch(client, queries, options), queries);
}

/** Results of queries that ran together. */
export type BatchResult = { basis: ReadingBasis; results: ReadonlyMap<string, QueryResult> };

/** `basis` may be fetched earlier, while the caller waits for something else. */
export type BatchSettings = Omit<ExecutionOptions, "tooLarge"> & { basis?: Promise<ReadBasis> };

export async function runBatch(
  client: ChainClient,
  queries: readonly ChainQuery[],
  { basis = fetchReadBasis(client), ...execution }: BatchSettings = {},
): Promise<BatchResult> {
  try {
    return await runBatchAt(client, await basis, { queries, execution });
  } catch (error) {
    if (!(error instanceof BasisReorged)) throw error;
    return runBatchAt(client, await fetchReadBasis(client), { queries, execution });
  }
}

/** The results of some of a batch's queries. */
export function resultsFor(
  { basis, results }: BatchResult,
  queries: readonly ChainQuery[],
): ChainResults {
  const keys = new Set(queries.map(queryKey));
  const own = [...keys].flatMap((key) => results.get(key) ?? []);
  return {
    basis,
    readings: own.filter(isReading),
    find: <Query extends ChainQuery>(query: Query) =>
      results.get(queryKey(query)) as ResultByKind[Query["kind"]] | undefined,
  };
}

/** The results of some of the queries that can be recorded, one for each subject. */
export function readingsOf({ find }: ChainResults, queries: readonly ChainQuery[]): ChainReading[] {
  const distinct = new Map(queries.map((query) => [queryKey(query), query]));
  return [...distinct.values()].flatMap((query) => find(query) ?? []).filter(isReading);
}

async function runBatchAt(
  client: ChainClient,
  basis: ReadBasis,
  { queries, execution }: { queries: readonly ChainQuery[]; execution: ExecutionOptions },
): Promise<BatchResult> {
  const distinct = new Map(queries.map((query) => [queryKey(query), query]));
  const outcomes = new Map<string, CallOutcome>();
  const lookUp = (call: ChainCall) => outcomes.get(callKey(call));
  const make = async (calls: readonly ChainCall[]) => {
    const open = new Map(calls.map((call) => [callKey(call), call]));
    for (const key of outcomes.keys()) open.delete(key);
    const results = await executeCalls(client, basis, [...open.values()], execution);
    [...open.keys()].forEach((key, index) => {
      outcomes.set(key, results[index]);
    });
  };
  const distinctQueries = [...distinct.values()];
  await make(distinctQueries.flatMap((query) => callsOf(query, basis)));
  await make(distinctQueries.flatMap((query) => followUpOf(query, lookUp, basis)));
  const results = new Map<string, QueryResult>();
  for (const [key, query] of distinct) {
    const result = decodeResult(query, lookUp, basis);
    if (result !== undefined) results.set(key, result);
  }
  const { number, hash, timestamp } = basis;
  return { basis: { number, hash, timestamp }, results };
}

const callsOf = <Kind extends QueryKind>(
  query: QueryByKind[Kind] & { kind: Kind },
  basis: ReadBasis,
): ChainCall[] => queryCodecs[query.kind].encode(query, basis);

const followUpOf = <Kind extends QueryKind>(
  query: QueryByKind[Kind] & { kind: Kind },
  lookUp: (call: ChainCall) => CallOutcome,
  basis: ReadBasis,
): ChainCall[] => queryCodecs[query.kind].encodeFollowUp?.(query, lookUp, basis) ?? [];

const decodeResult = <Kind extends QueryKind>(
  query: QueryByKind[Kind] & { kind: Kind },
  lookUp: (call: ChainCall) => CallOutcome,
  basis: ReadBasis,
): ResultByKind[Kind] | undefined => queryCodecs[query.kind].decode(query, lookUp, basis);
