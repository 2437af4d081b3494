import { setTimeout as delay } from "node:timers/promises";
import type { Database } from "#projections/log/database.ts";
import { inSnapshot } from "#projections/engine/snapshot.ts";
import { type FeedSlice, type FeedSource, readFeed, readFeedPosition } from "#projections/activity/read-feed.ts";
import type { PositionedReads } from "../http/reads/positioned-reads.ts";

/**
 * Reads for the feed, in one snapshot of one database: a position that was read from one replica says nothing of what
 * another one has.
 */
export type FeedSnapshots = <Result>(read: (db: Database) => Promise<Result>) => Promise<Result>;

export const feedSnapshots =
  (reads: PositionedReads): FeedSnapshots =>
  (read) =>
    reads.inSnapshot({ loadClass: "lists", atLeast: 0n }, ({ db }) => read(db));

export const singleSnapshots =
  (db: Database): FeedSnapshots =>
  (read) =>
    inSnapshot(db, { projections: [] }, (snapshot) => read(snapshot.db));

export type PartReader = { readonly source: FeedSource; readonly snapshots: FeedSnapshots };

/** Positions of one part. */
const partPositions = 1_000;

/** The next part up to the projections' position, as far as the database that is read has it, and to `upTo` at most. */
export function readPart(
  { source, snapshots }: PartReader,
  after: bigint,
  most?: bigint,
): Promise<FeedSlice> {
  return snapshots(async (db) => {
    const position = await readFeedPosition({ ...source, db });
    const upTo = most !== undefined && most < position ? most : position;
    if (upTo <= after) return { events: [], reached: after };
    return readFeed({ ...source, db }, { after, upTo, most: partPositions });
  });
}

const behindMs = 50;

/** The same where another database has it: waits until this one has, too. */
export async function awaitPart(
  reader: PartReader,
  after: bigint,
  upTo: bigint,
): Promise<FeedSlice> {
  for (;;) {
    const part = await readPart(reader, after, upTo);
    if (part.reached > after || upTo <= after) return part;
    await delay(behindMs);
  }
}
