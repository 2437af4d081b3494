import type { Hex } from "viem";

/** What an order taken in is told as. */
const orderTypes = ["listing", "offer"] as const;
const eventTypes = ["sale", "transfer", "mint", "burn", "cancel"] as const;

export const activityTypes = [...eventTypes, ...orderTypes] as const;
export type ActivityType = (typeof activityTypes)[number];

export type EventType = (typeof eventTypes)[number];
export type OrderType = (typeof orderTypes)[number];

export type ActivityFilter = {
  chainId: number;
  /** null: all. */
  types: readonly ActivityType[] | null;
  /** A family's contracts; null: the whole chain. */
  contractIds: readonly number[] | null;
  /** On either side. */
  wallet: Hex | null;
};

/**
 * Rows of one source newest first, and where looking for more of them stopped before the source's end; null: there are
 * no more than these.
 */
export type Found<Row, Key> = { rows: Row[]; stoppedAt: Stop<Key> | null };
type Stop<Key> = { key: Key; at: Date };

/**
 * Whether the rows are read by one walk, which was not given up where it found all that were asked for. Of events a
 * wallet's are two: what it gave and what it took.
 */
export function isOneWalk({ wallet, contractIds }: ActivityFilter, ofEvents: boolean): boolean {
  return wallet === null ? contractIds === null || contractIds.length === 1 : !ofEvents;
}

/** Of the first rows of several walks those that none of them may still have something before. */
export function upTo<Row, Key>(
  rows: Row[],
  limit: number,
  isBelow: (row: Row, key: Key) => boolean,
  stop: Stop<Key> | null,
): Found<Row, Key> {
  if (stop === null) return { rows, stoppedAt: null };
  const looked = rows.filter((row) => !isBelow(row, stop.key));
  return { rows: looked, stoppedAt: looked.length === limit ? null : stop };
}

/** Rows of an index that are looked at for those that match: what is asked for may be rare. */
export const mostLooked = 10_000;

export function eventTypesOf({ types }: ActivityFilter): readonly EventType[] {
  return eventTypes.filter((type) => types === null || types.includes(type));
}

export function orderTypesOf({ types }: ActivityFilter): readonly OrderType[] {
  return orderTypes.filter((type) => types === null || types.includes(type));
}

/** How many types of events there are: who wants them all has nothing left out. */
export const allEventTypes = eventTypes.length;
