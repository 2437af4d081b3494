import type { RequestHandler } from "express";
import { z } from "zod";
import { answerFeed } from "../feed/answer-feed.ts";
import { delivery } from "../feed/event-filter.ts";
import type { FeedOf } from "../feed/start-feed.ts";
import { chainId } from "./routing/parameters.ts";

const query = z.object({ chainId, delivery });

/**
 * Streams `GET /v1/events` to callers with a key that accept server-sent events; everybody else, and whoever asks for
 * something that there is not, is left to the endpoint.
 */
export function streamEvents(feedOf: FeedOf): RequestHandler {
  return (request, response, next) => {
    response.vary("Accept");
    const isAsked = request.accepts(["application/json", "text/event-stream"]) === streamType;
    const asked = query.safeParse(request.query);
    const feed =
      isAsked && asked.success ? feedOf(asked.data.chainId, asked.data.delivery) : undefined;
    // The key was checked by the limits; an empty header is what a client sends that has none.
    if (feed === undefined || !request.get("x-api-key")) next();
    else answerFeed(feed)(request, response, next);
  };
}

const streamType = "text/event-stream";
