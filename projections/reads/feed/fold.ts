import { factKind } from "../../log/fact-kind.ts";
import type { EventId, FeedEvent, Told } from "./event.ts";
import type { FeedFact, KnownOrder } from "./fact.ts";
import { type SalesRules, tellSales } from "./sales-told.ts";
import { tell } from "./told.ts";

/** What a block told and did not take back, in the order in which it was told. */
type BlockFold = {
  isDropped: boolean;
  readonly standing: Map<string, FeedEvent>;
  readonly moves: FeedFact[];
  readonly fills: Map<number, FeedFact[]>;
};

export type FeedRules = SalesRules & {
  /** Orders that a cancel may be of. */
  readonly orders: readonly KnownOrder[];
};

/**
 * The events of facts, which come by position. An event depends on the facts of its block before it alone, so a fold
 * of these and a fold of the whole log tell the same.
 */
export function foldFeed(facts: readonly FeedFact[], rules: FeedRules): FeedEvent[] {
  const blocks = new Map<bigint | null, BlockFold>();
  const events: FeedEvent[] = [];
  for (const fact of facts) {
    const block = blocks.get(fact.blockId) ?? openBlock();
    blocks.set(fact.blockId, block);
    events.push(...foldFact(block, fact, rules));
  }
  return events;
}

function openBlock(): BlockFold {
  return { isDropped: false, standing: new Map(), moves: [], fills: new Map() };
}

function foldFact(block: BlockFold, fact: FeedFact, rules: FeedRules): FeedEvent[] {
  const numbered = numberedFrom(fact.position);
  switch (fact.kind) {
    case factKind.block_retracted:
      block.isDropped = true;
      return takeBack(block, [...block.standing.keys()].toReversed(), "reorg", numbered);
    case factKind.block_readopted:
      block.isDropped = false;
      return standAgain(block, rules, numbered);
    case factKind.order_fulfilled:
    case factKind.orders_matched:
      return foldFill(block, fact, rules, numbered);
    case factKind.order_submitted:
      return [eventOf(numbered(), tell(fact, []))];
    default:
      block.moves.push(fact);
      return block.isDropped ? [] : stand(block, [told(fact, rules)], false, numbered);
  }
}

type Numbered = () => EventId;

/** The ids of a position, one after the other. */
function numberedFrom(position: bigint): Numbered {
  let ordinal = 0;
  return () => {
    ordinal += 1;
    return { position, ordinal };
  };
}

/** An event's identity in its block: what is told again in other words is another event. */
type Keyed = readonly [key: string, told: Told];

function told(fact: FeedFact, rules: FeedRules): Keyed {
  return [`${fact.logIndex} ${fact.subIndex ?? 0}`, tell(fact, rules.orders)];
}

function soldIn(transactionIndex: number, facts: readonly FeedFact[], rules: FeedRules): Keyed[] {
  return tellSales(facts, rules).map((sold) => {
    return [`sale ${transactionIndex} ${textOf(sold)}`, sold];
  });
}

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? `${part}` : part));

/** A transaction's sales are those that its facts so far make: what they no longer make is taken back. */
function foldFill(
  block: BlockFold,
  fact: FeedFact,
  rules: FeedRules,
  numbered: Numbered,
): FeedEvent[] {
  const index = fact.transactionIndex ?? 0;
  const facts = [...(block.fills.get(index) ?? []), fact];
  block.fills.set(index, facts);
  if (block.isDropped) return [];
  const sold = soldIn(index, facts, rules);
  const keys = new Set(sold.map(([key]) => key));
  const gone = [...block.standing.keys()].filter(
    (key) => key.startsWith(`sale ${index} `) && !keys.has(key),
  );
  return [
    ...takeBack(block, gone.toReversed(), "correction", numbered),
    ...stand(
      block,
      sold.filter(([key]) => !block.standing.has(key)),
      false,
      numbered,
    ),
  ];
}

/** Everything that the block holds by now, in the order of the chain. */
function standAgain(block: BlockFold, rules: FeedRules, numbered: Numbered): FeedEvent[] {
  const sold = [...block.fills].flatMap(([index, facts]) => soldIn(index, facts, rules));
  const moved = block.moves
    .toSorted((one, other) => (one.subIndex ?? 0) - (other.subIndex ?? 0))
    .map((fact) => told(fact, rules));
  const all = [...sold, ...moved].toSorted(
    ([, one], [, other]) => (one.logIndex ?? 0) - (other.logIndex ?? 0),
  );
  return stand(block, all, true, numbered);
}

function stand(
  block: BlockFold,
  all: readonly Keyed[],
  isAgain: boolean,
  numbered: Numbered,
): FeedEvent[] {
  return all.map(([key, one]) => {
    const event = eventOf(numbered(), one, isAgain);
    block.standing.set(key, event);
    return event;
  });
}

function takeBack(
  block: BlockFold,
  keys: readonly string[],
  reason: "reorg" | "correction",
  numbered: Numbered,
): FeedEvent[] {
  return keys.flatMap((key) => {
    const event = block.standing.get(key);
    block.standing.delete(key);
    if (event === undefined) return [];
    const { position, ordinal } = event;
    return [{ ...eventOf(numbered(), event.told), retracts: { position, ordinal, reason } }];
  });
}

function eventOf(id: EventId, one: Told, isAgain = false): FeedEvent {
  return { ...id, told: one, retracts: null, isAgain };
}
