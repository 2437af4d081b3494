import type { Address } from "viem";
import { CostlyTogether, isCommonContract } from "./calls/execute-calls.ts";
import { type ChainQuery, payersOfQuery } from "./chain-query.ts";
import type { ChainClient } from "./clients.ts";
import {
  type BatchResult,
  type ChainResults,
  queryChain,
  resultsFor,
  runBatch,
} from "./query-chain.ts";

type PendingQueries = {
  queries: readonly ChainQuery[];
  resolve: (answers: ChainResults) => void;
  reject: (error: unknown) => void;
};

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

/**
 * One round at a time: callers that arrive during one share the next, which reads a later block. When a round fails,
 * all its callers get its `RpcFailure`.
 */
function shareRounds(client: ChainClient): QueryChain {
  let pending: PendingQueries[] = [];
  let isRunning = false;

  const runAll = async () => {
    isRunning = true;
    // Callers of the same tick share the first batch too.
    await Promise.resolve();
    while (pending.length > 0) {
      const batch = pending;
      pending = [];
      await runPending(client, batch);
    }
    isRunning = false;
  };

  return (questions) =>
    new Promise((resolve, reject) => {
      pending.push({ queries: questions, resolve, reject });
      if (!isRunning) void runAll();
    });
}

async function runPending(client: ChainClient, waiting: readonly PendingQueries[]): Promise<void> {
  let round: BatchResult;
  try {
    const queries = waiting.flatMap((one) => one.queries);
    round = await runBatch(client, queries, { areShared: true });
  } catch (error) {
    for (const { queries, resolve, reject } of waiting) {
      if (error instanceof CostlyTogether) queryAlone(client, queries).then(resolve, reject);
      else reject(error);
    }
    return;
  }
  for (const { queries, resolve } of waiting) resolve(resultsFor(round, queries));
}
