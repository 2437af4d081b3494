import type { CallOutcome, ChainCall } from "./call-batch.ts";
import type { ReadBasis } from "./contract-calls.ts";
import type { Answers, QuestionKind, Questions } from "./chain-query.ts";
import { wordAt } from "./abi-words.ts";

export type LookUp = (call: ChainCall) => CallOutcome;

/** How a kind of question is put to a chain. */
export type Reader<Kind extends QuestionKind> = {
  calls(question: Questions[Kind], basis: ReadBasis): ChainCall[];
  /** Calls that depend on what the first ones said. */
  followUp?(question: Questions[Kind], lookUp: LookUp, basis: ReadBasis): ChainCall[];
  read(question: Questions[Kind], lookUp: LookUp, basis: ReadBasis): Answers[Kind] | undefined;
};

/** A reader of one call; `parse` is not asked where the node did not say. */
export function oneCall<Kind extends QuestionKind>(
  callOf: (question: Questions[Kind]) => ChainCall,
  parse: (
    question: Questions[Kind],
    outcome: NonNullable<CallOutcome>,
  ) => Answers[Kind] | undefined,
): Reader<Kind> {
  return {
    calls: (question) => [callOf(question)],
    read(question, lookUp) {
      const outcome = lookUp(callOf(question));
      return outcome === undefined ? undefined : parse(question, outcome);
    },
  };
}

/** A word of what was returned; undefined where the contract refused or returned less. */
export function wordOf(outcome: CallOutcome, index = 0): bigint | undefined {
  return outcome !== undefined && "returned" in outcome
    ? wordAt(outcome.returned, index)
    : undefined;
}
