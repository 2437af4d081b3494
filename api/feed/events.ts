import { z } from "zod";
import {
  type EventId,
  type FeedEvent,
  formatEventId,
  idAfterPosition,
  isAfter,
  parseEventId,
} from "#projections/activity/feed-events.ts";
import {
  type FeedSource,
  type ReadEvent,
  readFeed,
  readFeedPosition,
} from "#projections/activity/read-feed.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import type { Database } from "#projections/log/database.ts";
import { cursorRefusals, pageFields } from "../http/page.ts";
import { route } from "../v1/context.ts";
import { chainId, chainRefusals } from "../v1/parameters.ts";
import {
  delivery,
  Event,
  type EventPredicate,
  eventFilter,
  filterFields,
  presentEvent,
} from "./event.ts";

export const events = route(
  {
    method: "get",
    path: "/v1/events",
    operationId: "listEvents",
    tag: "Events",
    loadClass: "lists",
    summary:
      "Sales, transfers, orders, cancellations and changes of metadata in the order in which they were indexed, and, where `type` names them, how the order book changes. With a key and `Accept: text/event-stream`: as they happen, as server-sent events",
    query: z.object({
      chainId,
      after: z.string().optional().meta({
        description:
          "`meta.next` of the previous page, or the `id` of an event. `0-0` starts with the oldest event. Without it the page is empty and its `meta.next` is the position after the newest event.",
      }),
      ...filterFields,
      delivery,
      per_page: pageFields.per_page,
    }),
    data: z.array(Event),
    meta: z
      .object({
        chainId: z.int(),
        per_page: z.int(),
        next: z
          .string()
          .meta({ description: "`after` of the next request; also set on an empty page." }),
        has_more: z.boolean().meta({
          description:
            "Whether to request the next page at once. A page may be empty although there are later events.",
        }),
      })
      .meta({ id: "EventMeta" }),
    refuses: {
      ...chainRefusals,
      ...cursorRefusals,
      too_many_streams: 503,
    },
    streams: true,
  },
  async ({ query }, { db, market, now }) => {
    const { chainId, after, per_page, delivery } = query;
    const feeRecipient = market.terms(chainId).fee.recipient;
    const source = { db, chainIds: [chainId], feeRecipient, delivery };
    const position = await readFeedPosition(source);
    const from = after === undefined ? idAfterPosition(position) : await resolveEventId(db, after);
    if (isRejection(from)) return from;
    const wants = eventFilter(query);
    const at = now();
    const page = await readEventPage(source, {
      from,
      upTo: position,
      matches: wants,
      limit: per_page,
    });
    return {
      data: page.events.map((event) => presentEvent(event, at)),
      meta: { chainId, per_page, next: formatEventId(page.next), has_more: page.hasMore },
    };
  },
);

/** Positions read at most for one part and for one page. */
const partPositions = 1_000;
const pagePositions = 5_000n;
/** A small page starts with a small part, since most facts are events. */
const positionsPerEvent = 4;

type EventPage = { events: ReadEvent[]; next: EventId; hasMore: boolean };

type PageQuery = { from: EventId; upTo: bigint; matches: EventPredicate; limit: number };

/** At most `limit` events after an event id, from a bounded range of the log. `next` is where the next page starts. */
async function readEventPage(source: FeedSource, asked: PageQuery): Promise<EventPage> {
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

/** Positions that a replica may be behind the database that issued an id. */
const mostBehind = 100_000n;

/** Parses an event id. One far beyond the log's end was issued by another log, and waiting for it would never end. */
export async function resolveEventId(
  db: Database,
  text: string,
): Promise<EventId | Rejection<"invalid_cursor">> {
  const place = parseEventId(text);
  if (place === undefined || place.position > (await readLogHead(db)) + mostBehind)
    return reject("invalid_cursor", "Unknown event id: start again without it");
  return place;
}
