import type { Request, RequestHandler, Response } from "express";
import { z } from "zod";
import type { CallerStreams, StreamCaller } from "../accounts/caller-streams.ts";
import { keyOf } from "../http/limit.ts";
import { requireScope } from "../http/mount.ts";
import { parametersOf, unknownParameters } from "../http/query.ts";
import { callerAddress } from "../http/request.ts";
import { v1Parameters } from "../v1/context.ts";
import { chainId } from "../v1/parameters.ts";
import { answerFeed, countStreamOrRefuse } from "./answer-feed.ts";
import { delivery } from "./event.ts";
import { events } from "./events.ts";
import type { FeedOf } from "./start-feed.ts";

const query = z.object({ chainId, delivery });
const known = parametersOf(events, v1Parameters);

/**
 * Streams `GET /v1/events` to callers with a key for streams that accept server-sent events; everybody else, and whoever
 * asks for something that there is not, is left to the endpoint.
 */
export function streamEvents(feedOf: FeedOf, streams?: CallerStreams): RequestHandler {
  const scope = requireScope("stream");
  return (request, response, next) => {
    response.vary("Accept");
    const isAsked =
      request.accepts(["application/json", "text/event-stream"]) === streamType &&
      unknownParameters(request.query, known) === undefined;
    const asked = query.safeParse(request.query);
    const feed =
      isAsked && asked.success ? feedOf(asked.data.chainId, asked.data.delivery) : undefined;
    // The key was checked by the limits; an empty header is what a client sends that has none.
    if (feed === undefined || !request.get("x-api-key")) {
      next();
      return;
    }
    const opener = keyOf(response)?.isInstant === true ? "instant key" : "key";
    scope(request, response, () => {
      if (countStreamOrRefuse(streams, streamCallerOf(request, response), response))
        answerFeed(feed, { opener })(request, response, next);
    });
  };
}

/** A key without an account counts for its address: new ones cost nothing. */
function streamCallerOf(request: Request, response: Response): StreamCaller {
  const key = keyOf(response);
  return {
    accountId: key?.accountId ?? null,
    address: callerAddress(request),
    credential: key && { kind: "key", id: key.id },
  };
}

const streamType = "text/event-stream";
