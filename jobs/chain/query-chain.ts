import type { Address } from "viem";
import type { ChainReading, ReadingBasis } from "#projections/log/readings.ts";
import { shareWhileBusy } from "../runner/share-while-busy.ts";
import {
  type ChainQuery,
  isReading,
  payersOfQuery,
  type QueryByKind,
  type QueryCodec,
  type QueryKind,
  type QueryResult,
  queryKey,
  type ResultByKind,
} from "./chain-query.ts";
import type { ChainClient } from "./client.ts";
import {
  BasisReorged,
  type ChainCall,
  type ChainCallOutcome,
  callKey,
  fetchReadBasis,
  type ReadBasis,
} from "./contract-calls.ts";
import {
  channelCodec,
  codeCodec,
  counterCodec,
  messageCodec,
  orderStatusCodec,
  receiptCodec,
  recipientsCodec,
  royaltyCodec,
  signatureCodec,
  standardCodec,
} from "./contract-queries.ts";
import {
  CostlyTogether,
  type ExecutionOptions,
  executeCalls,
  isCommonContract,
} from "./execute-calls.ts";
import {
  allowanceCodec,
  approvalCodec,
  balanceCodec,
  ownerCodec,
  tokenApprovalCodec,
  transferCodec,
  unitsCodec,
} from "./token-queries.ts";

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
  const outcomes = new Map<string, ChainCallOutcome>();
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
  lookUp: (call: ChainCall) => ChainCallOutcome,
  basis: ReadBasis,
): ChainCall[] => queryCodecs[query.kind].encodeFollowUp?.(query, lookUp, basis) ?? [];

const decodeResult = <Kind extends QueryKind>(
  query: QueryByKind[Kind] & { kind: Kind },
  lookUp: (call: ChainCall) => ChainCallOutcome,
  basis: ReadBasis,
): ResultByKind[Kind] | undefined => queryCodecs[query.kind].decode(query, lookUp, basis);

export type QueryChain = (questions: readonly ChainQuery[]) => Promise<ChainResults>;

/**
 * Queries a chain. Callers share rounds while they ask about contracts that answered cheaply before; a caller who asks
 * about another contract has a round alone, for which nobody waits.
 */
export function createQueryBatcher(client: ChainClient): QueryChain {
  const share = shareRounds(client);
  return (queries) => (isCheap(client, queries) ? share(queries) : queryAlone(client, queries));
}

/** What is costly rests for the tokens that it was asked about. */
const queryAlone = (client: ChainClient, queries: readonly ChainQuery[]): Promise<ChainResults> =>
  queryChain(client, queries, { asker: tokensOf(queries) });

const tokensOf = (queries: readonly ChainQuery[]): string =>
  [...new Set(queries.flatMap((one) => ("tokenId" in one ? [`${one.tokenId}`] : [])))]
    .sort()
    .join(" ");

/** Whether all contracts that decide what the queries cost are common or answered cheaply before. */
function isCheap({ health }: ChainClient, queries: readonly ChainQuery[]): boolean {
  const isKnown = (payer: Address) => isCommonContract(payer) || health.isCheap(payer);
  return queries.every((query) => payersOfQuery(query).every(isKnown));
}

/** Callers that arrive during a round share the next, which reads a later block. When one fails, all get its `RpcFailure`. */
function shareRounds(client: ChainClient): QueryChain {
  type Answer = () => ChainResults | Promise<ChainResults>;
  const share = shareWhileBusy<readonly ChainQuery[], Answer>(async (callers) => {
    try {
      const round = await runBatch(client, callers.flat(), { areShared: true });
      return callers.map((queries) => () => resultsFor(round, queries));
    } catch (error) {
      if (!(error instanceof CostlyTogether)) throw error;
      // The next round does not wait for them.
      return callers.map((queries) => () => queryAlone(client, queries));
    }
  });
  return async (queries) => (await share(queries))();
}

/** The codec of every kind of query. */
const queryCodecs: { readonly [Kind in QueryKind]: QueryCodec<Kind> } = {
  order_status_read: orderStatusCodec,
  counter_read: counterCodec,
  channel_read: channelCodec,
  approval_read: approvalCodec,
  token_approval_read: tokenApprovalCodec,
  owner_read: ownerCodec,
  units_read: unitsCodec,
  balance_read: balanceCodec,
  allowance_read: allowanceCodec,
  transfer_read: transferCodec,
  signature_read: signatureCodec,
  recipients_read: recipientsCodec,
  receipt: receiptCodec,
  message: messageCodec,
  code: codeCodec,
  standard: standardCodec,
  royalty: royaltyCodec,
};
