import { z } from "zod";
import { isRejection } from "../../../projections/domain/rejection.ts";
import { formatEventId, placeBehind } from "../../../projections/reads/feed/event.ts";
import { readToldPosition } from "../../../projections/reads/feed/read-told-position.ts";
import { eventFilter, filterFields } from "../feed/event-filter.ts";
import { placeIn } from "../feed/place.ts";
import { readEventPage } from "../feed/read-page.ts";
import { cursorRefusals, pageFields } from "../http/page.ts";
import { Event, presentEvent } from "../views/event.ts";
import { route } from "./context.ts";
import { chainId, chainRefusals } from "./parameters.ts";

export const events = route(
  {
    method: "get",
    path: "/v1/events",
    tag: "Events",
    summary: "Sales, transfers, orders and cancels as they become known, oldest first",
    query: z.object({
      chainId,
      after: z.string().optional().meta({
        description:
          "`meta.next` of the answer before, or an event's `id`. `0-0` begins with the oldest event; without it the answer is empty and tells where the newest ends.",
      }),
      ...filterFields,
      per_page: pageFields.per_page,
    }),
    data: z.array(Event),
    meta: z
      .object({
        chainId: z.int(),
        per_page: z.int(),
        next: z
          .string()
          .meta({ description: "`after` of the next request, also of an empty page." }),
        has_more: z.boolean().meta({
          description: "Whether to ask again at once: a page may be empty before the newest event.",
        }),
      })
      .meta({ id: "EventMeta" }),
    refuses: { ...chainRefusals, ...cursorRefusals },
  },
  async ({ query }, { db, market }) => {
    const { chainId, after, per_page } = query;
    const position = await readToldPosition(db);
    const from = after === undefined ? placeBehind(position) : await placeIn(db, after);
    if (isRejection(from)) return from;
    const feeRecipient = market.terms(chainId).fee.recipient;
    const source = { db, chainIds: [chainId], feeRecipient };
    const wants = eventFilter(query);
    const page = await readEventPage(source, { from, upTo: position, wants, most: per_page });
    return {
      data: page.events.map(presentEvent),
      meta: { chainId, per_page, next: formatEventId(page.next), has_more: page.hasMore },
    };
  },
);
