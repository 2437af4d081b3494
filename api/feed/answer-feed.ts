import type { Request, RequestHandler, Response } from "express";
import { z } from "zod";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import type { CallerStreams, StreamCaller } from "../accounts/caller-streams.ts";
import { sendRejection } from "../http/answer.ts";
import { limitRefusals } from "../http/limit.ts";
import { eventFilter, filterFields } from "./event.ts";
import { resolveEventId } from "./events.ts";
import type { Feed } from "./open-feed.ts";
import { type StreamOpener, sseConnection } from "./subscribers.ts";

/** HTTP status of each code. */
export const streamRefusals = {
  invalid_parameters: 422,
  invalid_cursor: 422,
  too_many_streams: 503,
} as const;

type Code = keyof typeof streamRefusals;

/** Sends a refusal in the envelope of the API. */
type Refuse = (response: Response, status: number, rejection: Rejection) => void;

type AnswerOptions = {
  readonly refuse?: Refuse;
  /** As of a subscription. */
  readonly mostBehind?: bigint;
  readonly opener?: StreamOpener;
};

const feedRetrySeconds = 5;

export const streamQuery = z.object({
  ...filterFields,
  after: z
    .string()
    .optional()
    .meta({ description: "The `id` of an event; the stream starts after it." }),
});

/**
 * A stream of server-sent events. `Last-Event-ID` resumes after that event; `after` does the same for a first request
 * and is overridden by the header, which a browser sends when it reconnects to the same URL.
 */
export function answerFeed(
  feed: Feed,
  { refuse = sendRejection, mostBehind, opener = "key" }: AnswerOptions = {},
): RequestHandler {
  return async (request, response) => {
    const subscription = await parseSubscription(feed, opener, request);
    if (isRejection(subscription)) {
      if (subscription.rejected === "too_many_streams")
        response.set("Retry-After", String(feedRetrySeconds));
      refuse(response, streamRefusals[subscription.rejected], subscription);
      return;
    }
    // Who has left meanwhile would be counted for ever: what follows waits for nothing.
    if (response.destroyed) return;
    response.locals.isStream = true;
    response.status(200).set(streamHeaders).flushHeaders();
    if (request.method === "HEAD") {
      response.end();
      return;
    }
    request.socket.setNoDelay(true);
    feed.subscribe({ ...subscription, mostBehind, connection: sseConnection(response) });
  };
}

/** `no-transform` also disables our own compression, which would delay events. */
const streamHeaders = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
};

async function parseSubscription(feed: Feed, opener: StreamOpener, request: Request) {
  const parsed = streamQuery.safeParse(request.query);
  if (!parsed.success) return invalid(parsed.error);
  const after = request.get("last-event-id") || parsed.data.after;
  const from = after === undefined ? undefined : await resolveEventId(feed.source.db, after);
  if (isRejection(from)) return from;
  if (!feed.hasRoom(opener)) return full;
  return { matches: eventFilter(parsed.data), from };
}

const full: Rejection<Code> = reject(
  "too_many_streams",
  "This process serves no more streams of this kind at present",
);

/** Of a refusal: its first faults. */
const maxDetails = 20;

function invalid(error: z.ZodError): Rejection<Code> {
  const details = error.issues
    .slice(0, maxDetails)
    .map(({ path, message }) => ({ field: String(path[0]), message }));
  const [first] = details;
  return reject("invalid_parameters", `${first?.field}: ${first?.message}`, details);
}

const streamRetrySeconds = 60;

const tooMany = reject(
  "rate_limited",
  "Too many open streams for this account, or for this network address if the caller has no account; close one",
);

/**
 * Counts a stream that is about to be sent; answers the request itself when its caller has as many as it may. The stream
 * ends when the credential that opened it is revoked or expires, or its account is suspended or deleted.
 */
export function countStreamOrRefuse(
  streams: CallerStreams | undefined,
  caller: StreamCaller,
  response: Response,
): boolean {
  // Who has left meanwhile closes nothing any more.
  if (response.destroyed) return false;
  if (streams === undefined) return true;
  const stream = streams.open(caller, () => response.end());
  if (stream === null) {
    response.set("Retry-After", String(streamRetrySeconds));
    sendRejection(response, limitRefusals[tooMany.rejected], tooMany);
    return false;
  }
  response.once("close", stream.close);
  return true;
}
