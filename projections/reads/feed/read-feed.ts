import type { Address } from "viem";
import type { Database } from "#projections/log/database.ts";
import { deriveFeed } from "./derive-feed.ts";
import { type FeedEvent, formatEventId } from "./event.ts";
import { type FeedFact, stateKinds } from "./fact.ts";
import { readAliases, readCancelled, readEarlierFacts, readFollowingFacts, readLaterFacts, readWindow } from "./read-facts.ts";
import { readFinalBlocks } from "./read-finality.ts";
import { readParts } from "./read-parts.ts";

export type FeedSource = {
  readonly db: Database;
  readonly chainIds: readonly number[];
  /** By which this market's sales are known. */
  readonly feeRecipient: Address;
  /** `final`: events of final blocks that were not retracted, and no retractions. Default: all events. */
  readonly delivery?: "latest" | "final";
};

/** An event as it is read: `isFinal` is the only field that another read may tell otherwise. */
export type ReadEvent = FeedEvent & {
  /** Its block was final when it was read. */
  readonly isFinal: boolean;
};

export type FeedSlice = {
  readonly events: ReadEvent[];
  /** The events are complete up to this position, and contain none after it. */
  readonly reached: bigint;
};

/** Retractions and readoptions of blocks in one slice: each reads a whole block. */
const maxBlockStates = 8;

/**
 * Events with after < position ≤ upTo, of `most` positions at most. They are a function of the log up to the append of
 * their position: read later, in other slices or by another process, they are the same. With `final` delivery `upTo`
 * must be `readFeedPosition`'s at most.
 */
export async function readFeed(
  { db, chainIds, feeRecipient, delivery }: FeedSource,
  { after, upTo, most }: { after: bigint; upTo: bigint; most: number },
): Promise<FeedSlice> {
  const end = after + BigInt(most);
  const facts = await readWindow(db, { after, upTo: end < upTo ? end : upTo }, chainIds);
  const window = { after, upTo: endOf(facts, end < upTo ? end : upTo) };
  const shown = facts.filter(({ position }) => position <= window.upTo);
  if (shown.length === 0) return { events: [], reached: window.upTo };
  const earlier = await readEarlierFacts(db, shown, window);
  const readRest = delivery === "final" ? readLaterFacts : readFollowingFacts;
  const all = [...earlier, ...shown, ...(await readRest(db, shown, window.upTo))];
  const [orders, standsFor, finalBlocks, parts] = await Promise.all([
    readCancelled(db, all, window.upTo),
    readAliases(db),
    readFinalBlocks(db, chainIds),
    readParts(db, all),
  ]);
  const derived = deriveFeed(all, { feeRecipient, standsFor, orders, parts });
  const lasting = delivery === "final" ? withoutRetracted(derived) : derived;
  const events = lasting
    .filter(({ position }) => position > after && position <= window.upTo)
    .map((event) => ({ ...event, isFinal: isFinal(event, finalBlocks) }));
  return { events, reached: window.upTo };
}

function withoutRetracted(events: readonly FeedEvent[]): FeedEvent[] {
  const retracted = new Set(events.flatMap(({ retracts }) => retracts && formatEventId(retracts)));
  return events.filter((event) => event.retracts === null && !retracted.has(formatEventId(event)));
}

/** A submitted order is in no block, and nothing takes it back. */
function isFinal({ content }: FeedEvent, finalBlocks: ReadonlyMap<number, bigint>): boolean {
  const { blockNumber, chainId } = content;
  return blockNumber === null || blockNumber <= (finalBlocks.get(chainId) ?? -1n);
}

function endOf(facts: readonly FeedFact[], upTo: bigint): bigint {
  const states = facts.filter(({ kind }) => stateKinds.some((one) => one === kind));
  const next = states[maxBlockStates];
  return next === undefined ? upTo : next.position - 1n;
}
