import type { RequestHandler } from "express";
import { reject } from "../../../projections/domain/rejection.ts";
import type { TokenStreams } from "../accounts/token-streams.ts";
import { sendRejection } from "../http/answer.ts";
import { bearerOf } from "./require-bearer.ts";

/** Codes of streams, besides those of the feed. */
export const accountStreamRefusals = { too_many_account_streams: 429 } as const;

const retryAfterSeconds = 60;

const tooMany = reject(
  "too_many_account_streams",
  "This account has as many streams open as it may; close one",
);

/** Streams at a time of an account, ended when their token is revoked or expires, or the account is suspended. */
export function boundStreams(streams: TokenStreams): RequestHandler {
  return (_request, response, next) => {
    const bearer = bearerOf(response);
    const stream = streams.open(bearer, () => response.end());
    if (stream === null) {
      response.set("Retry-After", String(retryAfterSeconds));
      sendRejection(response, accountStreamRefusals[tooMany.rejected], tooMany);
      return;
    }
    response.once("close", stream.close);
    next();
  };
}
