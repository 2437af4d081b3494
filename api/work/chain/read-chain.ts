import type {
  ChainReading,
  ReadingBasis,
} from "../../../projections/chain-readings/chain-reading.ts";
import { type CallOutcome, type ChainCall, callKey, makeCalls } from "./call-batch.ts";
import type { ChainClient } from "./clients.ts";
import { BasisMoved, fetchReadBasis, type ReadBasis } from "./contract-calls.ts";
import {
  type Answer,
  type Answers,
  isReading,
  type Question,
  type QuestionKind,
  type Questions,
  questionKey,
} from "./chain-query.ts";
import { readers } from "./query-kinds.ts";

/** What a chain said, all of it at the end of one block. */
export type ChainAnswers = {
  basis: ReadingBasis;
  /** The answers that can be recorded, one for each subject. */
  readings: ChainReading[];
  /** Undefined: the node did not say, or what the contracts said decides nothing. */
  find<const Asked extends Question>(question: Asked): Answers[Asked["kind"]] | undefined;
};

/**
 * Asks a chain any number of questions about its latest block, in as few requests as can be.
 * Throws `RpcFailure` when the chain cannot be asked.
 */
export async function askChain(
  client: ChainClient,
  questions: readonly Question[],
): Promise<ChainAnswers> {
  return answersTo(await holdRound(client, questions), questions);
}

/** The answers to questions that were asked together. */
export type Round = { basis: ReadingBasis; answers: ReadonlyMap<string, Answer> };

/** `basis`: asked for before the questions were known, while something else was waited for. */
export async function holdRound(
  client: ChainClient,
  questions: readonly Question[],
  basis: Promise<ReadBasis> = fetchReadBasis(client),
): Promise<Round> {
  try {
    return await holdRoundAt(client, await basis, questions);
  } catch (error) {
    if (!(error instanceof BasisMoved)) throw error;
    return holdRoundAt(client, await fetchReadBasis(client), questions);
  }
}

/** Of a round's answers those to these questions. */
export function answersTo({ basis, answers }: Round, questions: readonly Question[]): ChainAnswers {
  const keys = new Set(questions.map(questionKey));
  const own = [...keys].flatMap((key) => answers.get(key) ?? []);
  return {
    basis,
    readings: own.filter(isReading),
    find: <Asked extends Question>(question: Asked) =>
      answers.get(questionKey(question)) as Answers[Asked["kind"]] | undefined,
  };
}

async function holdRoundAt(
  client: ChainClient,
  basis: ReadBasis,
  questions: readonly Question[],
): Promise<Round> {
  const distinct = new Map(questions.map((question) => [questionKey(question), question]));
  const said = new Map<string, CallOutcome>();
  const lookUp = (call: ChainCall) => said.get(callKey(call));
  const make = async (calls: readonly ChainCall[]) => {
    const open = new Map(calls.map((call) => [callKey(call), call]));
    for (const key of said.keys()) open.delete(key);
    const outcomes = await makeCalls(client, basis, [...open.values()]);
    [...open.keys()].forEach((key, index) => {
      said.set(key, outcomes[index]);
    });
  };
  const asked = [...distinct.values()];
  await make(asked.flatMap((question) => callsOf(question, basis)));
  await make(asked.flatMap((question) => followUpOf(question, lookUp, basis)));
  const answers = new Map<string, Answer>();
  for (const [key, question] of distinct) {
    const answer = readAnswer(question, lookUp, basis);
    if (answer !== undefined) answers.set(key, answer);
  }
  const { number, hash, timestamp } = basis;
  return { basis: { number, hash, timestamp }, answers };
}

const callsOf = <Kind extends QuestionKind>(
  question: Questions[Kind] & { kind: Kind },
  basis: ReadBasis,
): ChainCall[] => readers[question.kind].calls(question, basis);

const followUpOf = <Kind extends QuestionKind>(
  question: Questions[Kind] & { kind: Kind },
  lookUp: (call: ChainCall) => CallOutcome,
  basis: ReadBasis,
): ChainCall[] => readers[question.kind].followUp?.(question, lookUp, basis) ?? [];

const readAnswer = <Kind extends QuestionKind>(
  question: Questions[Kind] & { kind: Kind },
  lookUp: (call: ChainCall) => CallOutcome,
  basis: ReadBasis,
): Answers[Kind] | undefined => readers[question.kind].read(question, lookUp, basis);
