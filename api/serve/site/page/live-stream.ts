import type { RequestHandler } from "express";
import { reject } from "#projections/domain/rejection.ts";
import { answerFeed, countStreamOrRefuse } from "#api/feed/answer-feed.ts";
import { sendRejection } from "#api/http/answer.ts";
import { callerAddress } from "#api/http/request.ts";
import { chainOf, type SiteContext } from "./serve-page.ts";

/** A page that was open shows the newest rows only. Who wants the whole log takes a key and the API's stream. */
const mostBehind = 10_000n;

/** Events for open pages: the same stream as the API's, for browsers of this site and without a key. */
export function streamToPages({ context, feedOf, streams }: SiteContext): RequestHandler {
  return (request, response, next) => {
    const chainId = chainOf(request, context.chains);
    const feed = chainId === undefined ? undefined : feedOf?.(chainId, "latest");
    if (feed === undefined) {
      sendRejection(response, 404, reject("not_found", "No feed of this chain"));
      return;
    }
    const caller = { accountId: null, address: callerAddress(request), credential: null };
    if (countStreamOrRefuse(streams, caller, response))
      answerFeed(feed, { mostBehind, opener: "page" })(request, response, next);
  };
}
