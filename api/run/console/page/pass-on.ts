import type { RequestHandler } from "express";

/** Milliseconds for the other listener to answer. */
const timeoutMs = 5_000;

/** Answers with what another listener of this service answers. */
export function passOn(url: string): RequestHandler {
  return async (_request, response) => {
    const answer = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) }).catch(() => null);
    if (answer === null) {
      response.status(502).type("text").end("The API does not answer\n");
      return;
    }
    response
      .status(answer.status)
      .set("Content-Type", answer.headers.get("content-type") ?? "text/plain; charset=utf-8")
      .end(await answer.text());
  };
}
