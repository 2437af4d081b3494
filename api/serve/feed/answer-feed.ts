import type { Request, RequestHandler, Response } from "express";
import { z } from "zod";
import { isRejection, type Rejection, reject } from "../../../projections/domain/rejection.ts";
import { sendRejection } from "../http/answer.ts";
import { eventFilter, filterFields } from "./event-filter.ts";
import type { Feed } from "./open-feed.ts";
import { outletOf } from "./outlet.ts";
import { placeIn } from "./place.ts";

const refusals = { invalid_parameters: 422, invalid_cursor: 422, too_many_streams: 503 } as const;

type Code = keyof typeof refusals;

/** How a refusal is sent, where that is another envelope than the common one. */
type Refuse = (response: Response, status: number, rejection: Rejection) => void;

const retryAfterSeconds = 5;

const query = z.object({ ...filterFields, after: z.string().optional() });

/**
 * A stream of server-sent events. `Last-Event-ID` goes on behind that event; `after` does the same for a first request,
 * so a browser that comes back to the same address with the header is not sent back there.
 */
export function answerFeed(feed: Feed, refuse: Refuse = sendRejection): RequestHandler {
  return async (request, response) => {
    const asked = await read(feed, request);
    if (isRejection(asked)) {
      if (asked.rejected === "too_many_streams")
        response.set("Retry-After", String(retryAfterSeconds));
      refuse(response, refusals[asked.rejected], asked);
      return;
    }
    response.locals.isStream = true;
    response.status(200).set(streamHeaders).flushHeaders();
    if (request.method === "HEAD") {
      response.end();
      return;
    }
    request.socket.setNoDelay(true);
    feed.read({ ...asked, outlet: outletOf(response) });
  };
}

/** `no-transform` also keeps our own compression away: it would hold events back. */
const streamHeaders = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
};

async function read(feed: Feed, request: Request) {
  const parsed = query.safeParse(request.query);
  if (!parsed.success) return invalid(parsed.error);
  const after = request.get("last-event-id") || parsed.data.after;
  const from = after === undefined ? undefined : await placeIn(feed.source.db, after);
  if (isRejection(from)) return from;
  if (!feed.hasRoom()) return full;
  return { wants: eventFilter(parsed.data), from };
}

const full: Rejection<Code> = reject("too_many_streams", "No more streams are served here for now");

function invalid(error: z.ZodError): Rejection<Code> {
  const details = error.issues.map(({ path, message }) => ({ field: String(path[0]), message }));
  const [first] = details;
  return reject("invalid_parameters", `${first?.field}: ${first?.message}`, details);
}
