import { answersTo, type ChainAnswers, holdRound, type Round } from "./read-chain.ts";
import type { ChainClient } from "./clients.ts";
import type { Question } from "./chain-query.ts";

type Waiting = {
  questions: readonly Question[];
  resolve: (answers: ChainAnswers) => void;
  reject: (error: unknown) => void;
};

export type AskChain = (questions: readonly Question[]) => Promise<ChainAnswers>;

/**
 * Asks a chain one round at a time: those who come while one is under way are answered together by the next,
 * whose block is the latest after they came. A round that fails throws its `RpcFailure` at all of them.
 */
export function openChainAsker(client: ChainClient): AskChain {
  let waiting: Waiting[] = [];
  let underWay = false;

  const answerAll = async () => {
    underWay = true;
    // Those who ask in the same turn share the first round too.
    await Promise.resolve();
    while (waiting.length > 0) {
      const round = waiting;
      waiting = [];
      await answerRound(client, round);
    }
    underWay = false;
  };

  return (questions) =>
    new Promise((resolve, reject) => {
      waiting.push({ questions, resolve, reject });
      if (!underWay) void answerAll();
    });
}

async function answerRound(client: ChainClient, waiting: readonly Waiting[]): Promise<void> {
  let round: Round;
  try {
    round = await holdRound(
      client,
      waiting.flatMap(({ questions }) => questions),
    );
  } catch (error) {
    for (const { reject } of waiting) reject(error);
    return;
  }
  for (const { questions, resolve } of waiting) resolve(answersTo(round, questions));
}
