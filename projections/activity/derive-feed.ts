import { isSaleFact } from "../exchanges/exchanges.ts";
import { isOfUnknownPool } from "../exchanges/model/exchange.ts";
import { factKind } from "../log/fact-kinds.ts";
import { describeFact, describeSales, type SalesRules } from "./describe-feed.ts";
import {
  type EventContent,
  type EventId,
  type FeedEvent,
  type FeedFact,
  isAfter,
  type KnownOrder,
} from "./feed-events.ts";
import type { TransactionParts } from "./read-feed-facts.ts";

/** A block's events that are not retracted, in the order in which they were emitted, and its facts. */
type BlockState = {
  isRetracted: boolean;
  readonly current: Map<string, FeedEvent>;
  readonly transactions: Map<number, TransactionState>;
  readonly otherFacts: FeedFact[];
};

type FeedRules = SalesRules & {
  /** Orders that a cancel may be of. */
  readonly orders: readonly KnownOrder[];
  readonly parts: TransactionParts;
};

type Derivation = FeedRules & { readonly factsOfParts: FactsOfParts };

/**
 * The events of facts, which are ordered by position. An event depends on the earlier facts of its block alone and on the
 * part that its fact is of, so these facts and the whole log give the same events.
 */
export function deriveFeed(facts: readonly FeedFact[], rules: FeedRules): FeedEvent[] {
  const blocks = new Map<bigint | null, BlockState>();
  const events: FeedEvent[] = [];
  const known = facts.filter((fact) => !isOfUnknownPool(fact) && !isEmptyRange(fact));
  const derivation = { ...rules, factsOfParts: groupByPart(known, rules.parts) };
  for (const fact of known) {
    const block = blocks.get(fact.blockId) ?? emptyBlock();
    blocks.set(fact.blockId, block);
    events.push(...deriveFact(block, fact, derivation));
  }
  return events;
}

/** A range that ends before it begins: the log keeps the event, nothing has moved. */
const isEmptyRange = ({ kind, amount }: FeedFact) =>
  kind === factKind.erc721_consecutive_transfer && (amount ?? 0n) <= 0n;

function emptyBlock(): BlockState {
  return { isRetracted: false, current: new Map(), transactions: new Map(), otherFacts: [] };
}

function deriveFact(block: BlockState, fact: FeedFact, rules: Derivation): FeedEvent[] {
  const nextId = idsAt(fact.position);
  if (isSaleFact(fact.kind)) return sell(block, fact, rules, nextId);
  switch (fact.kind) {
    case factKind.block_retracted:
      block.isRetracted = true;
      return retract(block, [...block.current.keys()].toReversed(), "reorg", nextId);
    case factKind.block_readopted:
      block.isRetracted = false;
      return readopt(block, rules, nextId);
    case factKind.order_submitted:
      return [feedEvent(nextId(), describeFact(fact, []))];
    default:
      block.otherFacts.push(fact);
      return block.isRetracted ? [] : emit(block, [keyedContent(fact, rules)], nextId);
  }
}

type NextId = () => EventId;

/** The ids of a position, from ordinal 1 on. */
function idsAt(position: bigint): NextId {
  let ordinal = 0;
  return () => {
    ordinal += 1;
    return { position, ordinal };
  };
}

function keyedContent(fact: FeedFact, rules: FeedRules): KeyedContent {
  const place = fact.logIndex === null ? fact.position : `${fact.logIndex} ${fact.subIndex ?? 0}`;
  return [`${place}`, describeFact(fact, rules.orders)];
}

/** The sales of a fact; those that the facts of earlier parts made and all together do not are retracted. */
function sell(block: BlockState, fact: FeedFact, rules: Derivation, nextId: NextId): FeedEvent[] {
  const index = fact.transactionIndex ?? 0;
  const transaction = block.transactions.get(index) ?? emptyTransaction();
  block.transactions.set(index, transaction);
  const part = partOf(fact, rules.parts);
  const facts = rules.factsOfParts.get(part) ?? [];
  const outdated =
    part === transaction.part ? [] : beginPart(transaction, { part, facts, ...block }, rules);
  const added = transaction.added.get(fact.logIndex ?? 0) ?? [];
  return [
    ...retract(block, lastFirst(block, outdated), "correction", nextId),
    ...emit(block, added, nextId),
  ];
}

function lastFirst({ current }: BlockState, keys: readonly string[]): string[] {
  return keys.toSorted((one, other) => {
    const [first, second] = [current.get(one), current.get(other)];
    return first !== undefined && second !== undefined && isAfter(first, second) ? -1 : 1;
  });
}

/** All events of the block's facts so far, in the order of the chain. */
function readopt(block: BlockState, rules: FeedRules, nextId: NextId): FeedEvent[] {
  const sales = [...block.transactions.values()].flatMap((one) => deriveSales(one, rules));
  const others = block.otherFacts
    .toSorted((one, other) => (one.subIndex ?? 0) - (other.subIndex ?? 0))
    .map((fact) => keyedContent(fact, rules));
  const all = [...sales, ...others].toSorted(
    ([, one], [, other]) => (one.logIndex ?? 0) - (other.logIndex ?? 0),
  );
  return emit(block, all, nextId, true);
}

function emit(
  block: BlockState,
  contents: readonly KeyedContent[],
  nextId: NextId,
  isReadopted = false,
): FeedEvent[] {
  return contents.map(([key, content]) => {
    const event = feedEvent(nextId(), content, isReadopted);
    block.current.set(key, event);
    return event;
  });
}

function retract(
  block: BlockState,
  keys: readonly string[],
  reason: "reorg" | "correction",
  nextId: NextId,
): FeedEvent[] {
  return keys.flatMap((key) => {
    const event = block.current.get(key);
    block.current.delete(key);
    if (event === undefined) return [];
    const { position, ordinal } = event;
    return [{ ...feedEvent(nextId(), event.content), retracts: { position, ordinal, reason } }];
  });
}

function feedEvent(id: EventId, content: EventContent, isReadopted = false): FeedEvent {
  return { ...id, content, retracts: null, isReadopted };
}

/** Keys identify events within a block. A sale's contains its content: a sale with another content is another event. */
type KeyedContent = readonly [key: string, content: EventContent];

/** A transaction while its sale facts are passed, up to the end of a part. */
type TransactionState = {
  readonly facts: FeedFact[];
  part: bigint | null;
  /** What the part adds, by log index of the facts at which it is emitted. */
  readonly added: Map<number, KeyedContent[]>;
  /** Of the sales that all of these facts make. */
  keys: ReadonlySet<string>;
};

const emptyTransaction = (): TransactionState => ({
  facts: [],
  part: null,
  added: new Map(),
  keys: new Set(),
});

/** Sale facts, by part. */
type FactsOfParts = ReadonlyMap<bigint, readonly FeedFact[]>;

const partOf = ({ position }: FeedFact, parts: TransactionParts): bigint =>
  parts.get(position) ?? position;

function groupByPart(facts: readonly FeedFact[], parts: TransactionParts): FactsOfParts {
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
function beginPart(
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
function deriveSales(transaction: TransactionState, rules: SalesRules): KeyedContent[] {
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
