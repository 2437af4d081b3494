import { wordAt } from "./abi-words.ts";
import type { CallOutcome, ChainCall } from "./calls/chain-call.ts";
import type { QueryByKind, QueryKind, ResultByKind } from "./chain-query.ts";
import type { ReadBasis } from "./contract-calls.ts";

export type OutcomeLookup = (call: ChainCall) => CallOutcome;

/** Encodes a kind of query as contract calls and decodes their outcomes. */
export type QueryCodec<Kind extends QueryKind> = {
  encode(query: QueryByKind[Kind], basis: ReadBasis): ChainCall[];
  /** Calls that depend on outcomes of the first ones. */
  encodeFollowUp?(query: QueryByKind[Kind], lookUp: OutcomeLookup, basis: ReadBasis): ChainCall[];
  decode(
    query: QueryByKind[Kind],
    lookUp: OutcomeLookup,
    basis: ReadBasis,
  ): ResultByKind[Kind] | undefined;
};

/** No result from the node, or none before the gas was used up: nothing is known. */
const isUnknown = (outcome: CallOutcome): outcome is undefined =>
  outcome === undefined || ("isOutOfGas" in outcome && outcome.isOutOfGas === true);

/** A codec with one call; `parse` is skipped where nothing is known. */
export function singleCallCodec<Kind extends QueryKind>(
  callOf: (query: QueryByKind[Kind]) => ChainCall,
  parse: (
    query: QueryByKind[Kind],
    outcome: NonNullable<CallOutcome>,
  ) => ResultByKind[Kind] | undefined,
): QueryCodec<Kind> {
  return {
    encode: (query) => [callOf(query)],
    decode(query, lookUp) {
      const outcome = lookUp(callOf(query));
      return isUnknown(outcome) ? undefined : parse(query, outcome);
    },
  };
}

/** Whether the call did not revert; undefined: unknown. */
export function hasReturned(outcome: CallOutcome): boolean | undefined {
  return isUnknown(outcome) ? undefined : "returned" in outcome;
}

/** One 32-byte word of the returned data; undefined if the call reverted or returned fewer. */
export function wordOf(outcome: CallOutcome, index = 0): bigint | undefined {
  return outcome !== undefined && "returned" in outcome
    ? wordAt(outcome.returned, index)
    : undefined;
}
