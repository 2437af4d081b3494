import type { Address } from "viem";
import type { Database } from "../../database.ts";
import type { FeedEvent } from "./event.ts";
import { type FeedFact, stateKinds } from "./fact.ts";
import { foldFeed } from "./fold.ts";
import { readAliases, readBefore, readCancelled, readWindow } from "./read-facts.ts";

export type FeedSource = {
  readonly db: Database;
  readonly chainIds: readonly number[];
  /** By which this market's sales are known. */
  readonly feeRecipient: Address;
};

export type FeedPart = {
  readonly events: FeedEvent[];
  /** All events up to this position are told, and none behind it. */
  readonly reached: bigint;
};

/** Blocks that one part takes back or brings back at most: each is read whole. */
const mostTurns = 8;

/**
 * Events with after < position ≤ upTo, of `most` positions at most. They are a function of the log up to their
 * position: read later, in other parts, by another process, they are the same.
 */
export async function readFeed(
  { db, chainIds, feeRecipient }: FeedSource,
  { after, upTo, most }: { after: bigint; upTo: bigint; most: number },
): Promise<FeedPart> {
  const end = after + BigInt(most);
  const facts = await readWindow(db, { after, upTo: end < upTo ? end : upTo }, chainIds);
  const window = { after, upTo: endOf(facts, end < upTo ? end : upTo) };
  const shown = facts.filter(({ position }) => position <= window.upTo);
  if (shown.length === 0) return { events: [], reached: window.upTo };
  const all = [...(await readBefore(db, shown, window)), ...shown];
  const [orders, standsFor] = await Promise.all([
    readCancelled(db, all, window.upTo),
    readAliases(db),
  ]);
  const events = foldFeed(all, { feeRecipient, standsFor, orders });
  return { events: events.filter(({ position }) => position > after), reached: window.upTo };
}

function endOf(facts: readonly FeedFact[], upTo: bigint): bigint {
  const turns = facts.filter(({ kind }) => stateKinds.some((one) => one === kind));
  return turns[mostTurns]?.position === undefined ? upTo : turns[mostTurns].position - 1n;
}
