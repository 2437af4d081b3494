import { isOfUnknownPool } from "#projections/exchanges/model/exchange.ts";
import { isSaleFact } from "#projections/exchanges/exchanges.ts";
import { factKind } from "#projections/log/fact-kinds.ts";
import { beginPart, deriveSales, emptyTransaction, type FactsOfParts, groupByPart, type KeyedContent, partOf, type TransactionState } from "./derive-sales.ts";
import { describeFact } from "./describe-fact.ts";
import type { SalesRules } from "./describe-sales.ts";
import { type EventContent, type EventId, type FeedEvent, isAfter } from "./event.ts";
import type { FeedFact, KnownOrder } from "./fact.ts";
import type { Parts } from "./read-parts.ts";

/** A block's events that are not retracted, in the order in which they were emitted, and its facts. */
type BlockState = {
  isRetracted: boolean;
  readonly current: Map<string, FeedEvent>;
  readonly transactions: Map<number, TransactionState>;
  readonly otherFacts: FeedFact[];
};

export type FeedRules = SalesRules & {
  /** Orders that a cancel may be of. */
  readonly orders: readonly KnownOrder[];
  readonly parts: Parts;
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
