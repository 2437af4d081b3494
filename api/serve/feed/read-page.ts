import {
  type EventId,
  type FeedEvent,
  isAfter,
  placeBehind,
} from "../../../projections/reads/feed/event.ts";
import { type FeedSource, readFeed } from "../../../projections/reads/feed/read-feed.ts";
import type { Wants } from "./event-filter.ts";

/** Positions that one part and one page look at, at most. */
const partPositions = 1_000;
const pagePositions = 5_000n;
/** A small page begins with a small part: most facts are events. */
const positionsPerEvent = 4;

export type EventPage = { events: FeedEvent[]; next: EventId; hasMore: boolean };

type Asked = { from: EventId; upTo: bigint; wants: Wants; most: number };

/** Events behind a place, at most `most`, of a bounded stretch of the log. `next` is the place to go on from. */
export async function readEventPage(source: FeedSource, asked: Asked): Promise<EventPage> {
  const { from, upTo, wants, most } = asked;
  const events: FeedEvent[] = [];
  let after = from.position - 1n;
  const end = after + pagePositions;
  for (let size = most * positionsPerEvent; after < upTo && after < end; size *= 2) {
    const part = await readFeed(source, { after, upTo, most: Math.min(size, partPositions) });
    after = part.reached;
    events.push(...part.events.filter((event) => isAfter(event, from) && wants(event)));
    const last = events[most - 1];
    if (last !== undefined && events.length > most)
      return { events: events.slice(0, most), next: idOf(last), hasMore: true };
  }
  const reached = placeBehind(after);
  const next = isAfter(reached, from) ? reached : from;
  return { events, next, hasMore: after < upTo };
}

const idOf = ({ position, ordinal }: FeedEvent): EventId => ({ position, ordinal });
