import { z } from "zod";
import { isRejection } from "#projections/domain/rejection.ts";
import { formatEventId, idAfterPosition } from "#projections/activity/feed-events.ts";
import { readFeedPosition } from "#projections/activity/read-feed.ts";
import { delivery, eventFilter, filterFields } from "../feed/event-filter.ts";
import { readEventPage } from "../feed/read-page.ts";
import { resolveEventId } from "../feed/resolve-event-id.ts";
import { cursorRefusals, pageFields } from "../http/page.ts";
import { Event, presentEvent } from "../views/event.ts";
import { route } from "./routing/context.ts";
import { chainId, chainRefusals } from "./routing/parameters.ts";

export const events = route(
  {
    method: "get",
    path: "/v1/events",
    operationId: "listEvents",
    tag: "Events",
    loadClass: "lists",
    summary:
      "Sales, transfers, orders, cancellations and changes of metadata in the order in which they were indexed. With a key and `Accept: text/event-stream`: as they happen, as server-sent events",
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
