import { type Hex, keccak256, numberToHex, slice } from "viem";
import type { Block } from "../chain/block.ts";
import type { Faults, RpcError } from "./faults.ts";
import { type LogFilter, matcherOf, type ServedLog, servedLogs } from "./filter-logs.ts";

/** A refusal of one call. */
export class RefusedCall extends Error {
  readonly code: number;
  /** Of HTTP; undefined: 200. */
  readonly status: number | undefined;
  constructor({ code, message, status }: RpcError) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** What one backend of a node knows. */
export type NodeView = {
  readonly faults: Faults;
  readonly draw: (share: number) => boolean;
  readonly headNumber: number;
  /** undefined: null is the answer. */
  blockAt(number: number): Block | undefined;
  blockOf(hash: string): Block | undefined;
  /** Of a tag or a quantity. */
  numberOf(tag: unknown): number;
};

const prunedHistory: RpcError = { code: 4444, message: "pruned history unavailable" };

export function selectLogs(view: NodeView, filter: LogFilter): ServedLog[] {
  return filter.blockHash === undefined
    ? logsOfRange(view, filter)
    : logsOfBlock(view, filter, filter.blockHash);
}

function logsOfBlock(view: NodeView, filter: LogFilter, hash: string): ServedLog[] {
  const { faults, draw } = view;
  const block = view.blockOf(hash);
  if (block === undefined) throw new RefusedCall({ code: -32_000, message: "unknown block" });
  const logs = keptLogs(view, [block], matcherOf(filter));
  refuseResults(faults, logs.length);
  return spoil(logs, faults, draw, faults.doubled.byHash);
}

function logsOfRange(view: NodeView, filter: LogFilter): ServedLog[] {
  const { faults, draw, headNumber } = view;
  const from = view.numberOf(filter.fromBlock ?? "latest");
  const wanted = view.numberOf(filter.toBlock ?? "latest");
  if (from > wanted)
    throw new RefusedCall({ code: -32_602, message: "invalid block range params" });
  const { caps, hidden, lag } = faults;
  if (caps !== null && wanted - from + 1 > caps.blocks) throw refusal(caps);
  if (wanted > headNumber && lag?.beyondHead === "error") {
    const message = "block range extends beyond current head block";
    throw new RefusedCall({ code: -32_000, message });
  }
  const blocks: Block[] = [];
  for (let number = from; number <= Math.min(wanted, headNumber); number += 1) {
    const block = view.blockAt(number);
    if (block !== undefined) blocks.push(block);
  }
  const logs = keptLogs(view, blocks, matcherOf(filter)).filter(() => !draw(faults.omitted));
  refuseResults(faults, logs.length);
  if (
    logs.length > 0 &&
    hidden !== null &&
    hidden.timesLeft > 0 &&
    from <= hidden.to &&
    wanted >= hidden.from
  ) {
    hidden.timesLeft -= 1;
    return [];
  }
  return spoil(logs, faults, draw, faults.doubled.ranges);
}

function refuseResults({ caps }: Faults, count: number): void {
  if (caps !== null && count > caps.results) throw refusal(caps);
}

let refusals = 0;

function refusal({ errors }: NonNullable<Faults["caps"]>): RefusedCall {
  refusals += 1;
  return new RefusedCall(errors[refusals % errors.length] ?? { code: -32_005, message: "limit" });
}

/** Those that the node still has. */
function keptLogs(
  { faults: { pruned, hasNoLogs } }: NodeView,
  blocks: readonly Block[],
  matches: ReturnType<typeof matcherOf>,
): ServedLog[] {
  if (hasNoLogs) return [];
  refusePruned(pruned, blocks);
  const kept = blocks.filter(({ number }) => pruned === null || number >= pruned.below);
  return kept.flatMap((block) => servedLogs(block, matches));
}

/** Throws where the node says that it has no such history. */
export function refusePruned(pruned: Faults["pruned"], blocks: readonly Block[]): void {
  if (pruned === null || pruned.answer === "empty") return;
  if (blocks.some(({ number }) => number < pruned.below)) throw new RefusedCall(pruned.answer);
}

export const prunedWithError = (below: number): Faults["pruned"] => ({
  below,
  answer: prunedHistory,
});

/** Changes true logs as the faults have it. */
export function spoil(
  logs: readonly ServedLog[],
  faults: Faults,
  draw: (share: number) => boolean,
  isDoubled: boolean,
): ServedLog[] {
  const spoiled = logs.map((log) => {
    const altered = draw(faults.altered) ? alteredLog(log) : log;
    const named = faults.hasWrongHashes
      ? { ...altered, blockHash: keccak256(log.blockHash) }
      : altered;
    return withLargeIndex(named, faults.largeIndexes);
  });
  return isDoubled ? spoiled.flatMap((log) => [log, log]) : spoiled;
}

/** Of another token, which no filter of the block has. */
export function alteredLog(log: ServedLog): ServedLog {
  const last = log.topics.at(-1);
  if (last === undefined) return log;
  const other: Hex = `${slice(last, 0, 31)}${(Number.parseInt(last.slice(-2), 16) ^ 1).toString(16).padStart(2, "0")}`;
  return { ...log, topics: [...log.topics.slice(0, -1), other] };
}

function withLargeIndex(log: ServedLog, large: Faults["largeIndexes"]): ServedLog {
  if (large === null || Number(log.blockNumber) < large.fromBlock) return log;
  return { ...log, logIndex: numberToHex(Number(log.logIndex) + large.offset) };
}
