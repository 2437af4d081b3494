import type { ExchangeEvent } from "#projections/exchanges/model/exchange.ts";
import { factKind } from "#projections/log/fact-kinds.ts";
import type { ChainEvent } from "../support/database/given.ts";
import type { History } from "./history.ts";

/** What runs covered. */
export type Coverage = {
  /** How often each thing happened, by what it is called. */
  counts: Map<string, number>;
  /** Of a sort of fault in an operation: the statements that it struck, by their places. */
  struck: Map<string, Set<number>>;
  /** Statements that an operation was seen to make at most. */
  longest: Map<string, number>;
};

export function emptyCoverage(): Coverage {
  return { counts: new Map(), struck: new Map(), longest: new Map() };
}

export function countEvent({ counts }: Coverage, what: string, times = 1): void {
  if (times > 0) counts.set(what, (counts.get(what) ?? 0) + times);
}

/** Of an attempt at an operation: how many statements it made, and the fault that struck one. */
export function countAttempt(
  coverage: Coverage,
  operation: string,
  statements: number,
  struck: { how: string; place: number; commits: boolean } | null,
): void {
  const { longest } = coverage;
  longest.set(operation, Math.max(longest.get(operation) ?? 1, statements));
  if (struck === null) return;
  const { how, place, commits } = struck;
  countEvent(coverage, `fault: ${commits ? "commit" : "statement"} of ${operation} ${how}`);
  const sort = `${operation} ${how}`;
  coverage.struck.set(sort, (coverage.struck.get(sort) ?? new Set()).add(place));
}

/** Reorgs by their depths, branches that came back, facts by their kinds. */
export function countHistory(coverage: Coverage, { turns }: History): void {
  for (const turn of turns) {
    const said =
      turn.does === "observe" ? turn.observations : turn.mined.flatMap(({ events }) => events);
    for (const fact of said) countFact(coverage, fact);
    if (turn.does !== "reorg") continue;
    countEvent(coverage, `reorg: ${depthClass(turn.dropped.length)} deep`);
    if (turn.returning.length > 0) countEvent(coverage, "reorg: to a branch that was left");
    countEvent(coverage, "fact: block_retracted", turn.dropped.length);
    countEvent(coverage, "fact: block_readopted", turn.returning.length);
    for (const { kind } of turn.dropped.flatMap(({ events }) => events)) {
      countEvent(coverage, `dropped fact: ${kind}`);
    }
  }
}

function countFact(coverage: Coverage, { kind, payload }: Pick<ChainEvent, "kind" | "payload">) {
  countEvent(coverage, `fact: ${kind}`);
  if (kind !== "exchange_event") return;
  const { source, event } = payload as ExchangeEvent;
  countEvent(coverage, `exchange event: ${source} ${event}`);
}

function depthClass(blocks: number): string {
  if (blocks === 1) return "1";
  if (blocks <= 6) return "2 to 6";
  return blocks <= 64 ? "7 to 64" : "more than 64";
}

/** All of it, a line each. */
export function presentCoverage({ counts, struck, longest }: Coverage): string[] {
  const never = Object.keys(factKind).filter((kind) => !counts.has(`fact: ${kind}`));
  return [
    ...byName(counts).map(([what, times]) => `${what}: ${times}`),
    ...byName(struck).map(([sort, { size }]) => {
      const [operation = ""] = sort.split(" ");
      return `places: ${sort}: ${size} of ${longest.get(operation)}`;
    }),
    `kinds of facts that no history holds: ${never.join(", ")}`,
  ];
}

/** How much of each there was, in one line. */
export function summarize({ counts }: Coverage): string {
  const sums = new Map<string, number>();
  for (const [what, times] of counts) {
    const [group = what] = what.split(": ");
    sums.set(group, (sums.get(group) ?? 0) + times);
  }
  return byName(sums)
    .map(([group, times]) => `${group} ${times}`)
    .join(", ");
}

function byName<T>(map: ReadonlyMap<string, T>): [string, T][] {
  return [...map].sort(([one], [other]) => (one < other ? -1 : 1));
}
