import type { Address } from "viem";
import type { Database } from "../../database.ts";
import { deriveFeed } from "./derive-feed.ts";
import type { FeedEvent } from "./event.ts";
import { type FeedFact, stateKinds } from "./fact.ts";
import { readAliases, readCancelled, readEarlierFacts, readWindow } from "./read-facts.ts";

export type FeedSource = {
  readonly db: Database;
  readonly chainIds: readonly number[];
  /** By which this market's sales are known. */
  readonly feeRecipient: Address;
};

export type FeedSlice = {
  readonly events: FeedEvent[];
  /** The events are complete up to this position, and contain none after it. */
  readonly reached: bigint;
};

/** Retractions and readoptions of blocks in one slice: each reads a whole block. */
const maxBlockStates = 8;

/**
 * Events with after < position ≤ upTo, of `most` positions at most. They are a function of the log up to their
 * position: read later, in other slices or by another process, they are the same.
 */
export async function readFeed(
  { db, chainIds, feeRecipient }: FeedSource,
  { after, upTo, most }: { after: bigint; upTo: bigint; most: number },
): Promise<FeedSlice> {
  const end = after + BigInt(most);
  const facts = await readWindow(db, { after, upTo: end < upTo ? end : upTo }, chainIds);
  const window = { after, upTo: endOf(facts, end < upTo ? end : upTo) };
  const shown = facts.filter(({ position }) => position <= window.upTo);
  if (shown.length === 0) return { events: [], reached: window.upTo };
  const all = [...(await readEarlierFacts(db, shown, window)), ...shown];
  const [orders, standsFor] = await Promise.all([
    readCancelled(db, all, window.upTo),
    readAliases(db),
  ]);
  const events = deriveFeed(all, { feeRecipient, standsFor, orders });
  return { events: events.filter(({ position }) => position > after), reached: window.upTo };
}

function endOf(facts: readonly FeedFact[], upTo: bigint): bigint {
  const states = facts.filter(({ kind }) => stateKinds.some((one) => one === kind));
  const next = states[maxBlockStates];
  return next === undefined ? upTo : next.position - 1n;
}
