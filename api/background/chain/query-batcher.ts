import type { ChainQuery } from "./chain-query.ts";
import type { ChainClient } from "./clients.ts";
import { type BatchResult, type ChainResults, resultsFor, runBatch } from "./query-chain.ts";

type PendingQueries = {
  queries: readonly ChainQuery[];
  resolve: (answers: ChainResults) => void;
  reject: (error: unknown) => void;
};

export type QueryChain = (questions: readonly ChainQuery[]) => Promise<ChainResults>;

/**
 * Queries a chain one batch at a time: callers that arrive while a batch is running share the next one, which reads a
 * later block. When a batch fails, all its callers get its `RpcFailure`.
 */
export function createQueryBatcher(client: ChainClient): QueryChain {
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
    round = await runBatch(
      client,
      waiting.flatMap(({ queries }) => queries),
    );
  } catch (error) {
    for (const { reject } of waiting) reject(error);
    return;
  }
  for (const { queries, resolve } of waiting) resolve(resultsFor(round, queries));
}
