import { type EventId, type FeedEvent, idAfterPosition, isAfter } from "#projections/activity/feed-events.ts";
import { type FeedSource, type ReadEvent, readFeed } from "#projections/activity/read-feed.ts";
import type { EventPredicate } from "./event-filter.ts";

/** Positions read at most for one part and for one page. */
const partPositions = 1_000;
const pagePositions = 5_000n;
/** A small page starts with a small part, since most facts are events. */
const positionsPerEvent = 4;

export type EventPage = { events: ReadEvent[]; next: EventId; hasMore: boolean };

type PageQuery = { from: EventId; upTo: bigint; matches: EventPredicate; limit: number };

/** At most `limit` events after an event id, from a bounded range of the log. `next` is where the next page starts. */
export async function readEventPage(source: FeedSource, asked: PageQuery): Promise<EventPage> {
  const { from, upTo, matches, limit } = asked;
  const events: ReadEvent[] = [];
  let after = from.position - 1n;
  const end = after + pagePositions;
  for (let size = limit * positionsPerEvent; after < upTo && after < end; size *= 2) {
    const part = await readFeed(source, { after, upTo, most: Math.min(size, partPositions) });
    after = part.reached;
    events.push(...part.events.filter((event) => isAfter(event, from) && matches(event)));
    const last = events[limit - 1];
    if (last !== undefined && events.length > limit)
      return { events: events.slice(0, limit), next: idOf(last), hasMore: true };
  }
  const reached = idAfterPosition(after);
  const next = isAfter(reached, from) ? reached : from;
  return { events, next, hasMore: after < upTo };
}

const idOf = ({ position, ordinal }: FeedEvent): EventId => ({ position, ordinal });
