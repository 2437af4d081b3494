import { isSaleFact } from "#projections/exchanges/exchanges.ts";
import { describeSales, type SalesRules } from "./describe-sales.ts";
import type { EventContent } from "./event.ts";
import type { FeedFact } from "./fact.ts";
import type { Parts } from "./read-parts.ts";

/** Keys identify events within a block. A sale's contains its content: a sale with another content is another event. */
export type KeyedContent = readonly [key: string, content: EventContent];

/** A transaction while its sale facts are passed, up to the end of a part. */
export type TransactionState = {
  readonly facts: FeedFact[];
  part: bigint | null;
  /** What the part adds, by log index of the facts at which it is emitted. */
  readonly added: Map<number, KeyedContent[]>;
  /** Of the sales that all of these facts make. */
  keys: ReadonlySet<string>;
};

export const emptyTransaction = (): TransactionState => ({
  facts: [],
  part: null,
  added: new Map(),
  keys: new Set(),
});

/** Sale facts, by part. */
export type FactsOfParts = ReadonlyMap<bigint, readonly FeedFact[]>;

export const partOf = ({ position }: FeedFact, parts: Parts): bigint =>
  parts.get(position) ?? position;

export function groupByPart(facts: readonly FeedFact[], parts: Parts): FactsOfParts {
  const groups = new Map<bigint, FeedFact[]>();
  for (const fact of facts) {
    if (isSaleFact(fact.kind)) add(groups, partOf(fact, parts), fact);
  }
  return groups;
}

/** `facts`: of the part, which the transaction's earlier ones precede. */
type BegunPart = {
  readonly part: bigint;
  readonly facts: readonly FeedFact[];
  /** Sales that were emitted and not retracted. */
  readonly current: ReadonlyMap<string, unknown>;
  /** What is not emitted is not derived. */
  readonly isRetracted: boolean;
};

/**
 * Derives the sales of a transaction with its next part, once for all facts of the part. A new sale is emitted at the fact
 * of its log index; where that is in an earlier part, at the first one. Returns the keys of sales that are no longer made.
 */
export function beginPart(
  transaction: TransactionState,
  { part, facts, current, isRetracted }: BegunPart,
  rules: SalesRules,
): string[] {
  const before = transaction.keys;
  transaction.part = part;
  transaction.added.clear();
  for (const fact of facts) transaction.facts.push(fact);
  if (isRetracted) return [];
  const indexes = new Set(facts.map(({ logIndex }) => logIndex));
  for (const [key, content] of deriveSales(transaction, rules)) {
    if (current.has(key)) continue;
    const { logIndex } = indexes.has(content.logIndex) ? content : (facts[0] ?? content);
    add(transaction.added, logIndex ?? 0, [key, content]);
  }
  return [...before].filter((key) => current.has(key) && !transaction.keys.has(key));
}

/** All sales that the transaction's facts make. */
export function deriveSales(transaction: TransactionState, rules: SalesRules): KeyedContent[] {
  const { facts } = transaction;
  const sales = describeSales(facts, rules).map((content): KeyedContent => {
    return [`sale ${facts[0]?.transactionIndex} ${serialize(content)}`, content];
  });
  transaction.keys = new Set(sales.map(([key]) => key));
  return sales;
}

const serialize = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? `${part}` : part));

function add<Key, Value>(groups: Map<Key, Value[]>, key: Key, value: Value): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [value]);
  else group.push(value);
}
