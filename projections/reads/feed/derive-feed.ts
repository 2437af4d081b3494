import { isOfUnknownPool } from "../../exchanges/model/exchange-transaction.ts";
import { isSaleFact } from "../../exchanges/sale-fact-kinds.ts";
import { factKind } from "../../log/fact-kind.ts";
import { describeFact } from "./describe-fact.ts";
import { describeSales, type SalesRules } from "./describe-sales.ts";
import type { EventContent, EventId, FeedEvent } from "./event.ts";
import type { FeedFact, KnownOrder } from "./fact.ts";

/** A block's events that are not retracted, in the order in which they were emitted, and its facts. */
type BlockState = {
  isRetracted: boolean;
  readonly current: Map<string, FeedEvent>;
  readonly saleFacts: Map<number, FeedFact[]>;
  readonly otherFacts: FeedFact[];
};

export type FeedRules = SalesRules & {
  /** Orders that a cancel may be of. */
  readonly orders: readonly KnownOrder[];
};

/**
 * The events of facts, which are ordered by position. An event depends on the earlier facts of its block alone, so these
 * facts and the whole log give the same events.
 */
export function deriveFeed(facts: readonly FeedFact[], rules: FeedRules): FeedEvent[] {
  const blocks = new Map<bigint | null, BlockState>();
  const events: FeedEvent[] = [];
  for (const fact of facts) {
    const block = blocks.get(fact.blockId) ?? emptyBlock();
    blocks.set(fact.blockId, block);
    events.push(...deriveFact(block, fact, rules));
  }
  return events;
}

function emptyBlock(): BlockState {
  return { isRetracted: false, current: new Map(), saleFacts: new Map(), otherFacts: [] };
}

function deriveFact(block: BlockState, fact: FeedFact, rules: FeedRules): FeedEvent[] {
  const nextId = idsAt(fact.position);
  // The sales of a transaction are derived anew at each fact of them.
  if (isOfUnknownPool(fact)) return [];
  if (isSaleFact(fact.kind)) return deriveSales(block, fact, rules, nextId);
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

/** Keys identify events within a block. A sale's contains its content: a sale with another content is another event. */
type KeyedContent = readonly [key: string, content: EventContent];

function keyedContent(fact: FeedFact, rules: FeedRules): KeyedContent {
  return [`${fact.logIndex} ${fact.subIndex ?? 0}`, describeFact(fact, rules.orders)];
}

function keyedSales(
  transactionIndex: number,
  facts: readonly FeedFact[],
  rules: FeedRules,
): KeyedContent[] {
  return describeSales(facts, rules).map((content) => {
    return [`sale ${transactionIndex} ${serialize(content)}`, content];
  });
}

const serialize = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? `${part}` : part));

/** The sales that the transaction's facts so far make; those that they no longer make are retracted. */
function deriveSales(
  block: BlockState,
  fact: FeedFact,
  rules: FeedRules,
  nextId: NextId,
): FeedEvent[] {
  const index = fact.transactionIndex ?? 0;
  const facts = [...(block.saleFacts.get(index) ?? []), fact];
  block.saleFacts.set(index, facts);
  if (block.isRetracted) return [];
  const sales = keyedSales(index, facts, rules);
  const keys = new Set(sales.map(([key]) => key));
  const outdated = [...block.current.keys()].filter(
    (key) => key.startsWith(`sale ${index} `) && !keys.has(key),
  );
  const added = sales.filter(([key]) => !block.current.has(key));
  return [
    ...retract(block, outdated.toReversed(), "correction", nextId),
    ...emit(block, added, nextId),
  ];
}

/** All events of the block's facts so far, in the order of the chain. */
function readopt(block: BlockState, rules: FeedRules, nextId: NextId): FeedEvent[] {
  const sales = [...block.saleFacts].flatMap(([index, facts]) => keyedSales(index, facts, rules));
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
