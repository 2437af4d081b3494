import type { Request, RequestHandler, Response } from "express";
import { reject } from "../../../../projections/domain/rejection.ts";
import { sendRejection } from "../answer.ts";
import { callerOf } from "../limit.ts";
import { type LoadClass, retryAfterSeconds } from "./load-class.ts";
import type { Turns } from "./turns.ts";

/** Code of every endpoint that waits for its turn. */
export const overloadRefusals = { overloaded: 503 } as const;

type Handler = (request: Request, response: Response) => Promise<void>;

/** Handles a request when its turn comes; 503 with `Retry-After` when it does not come in time. */
export function inTurn(turns: Turns, loadClass: LoadClass, handle: Handler): RequestHandler {
  return async (request, response) => {
    const left = new AbortController();
    const leave = () => left.abort();
    response.once("close", leave);
    const turn = await turns.take(loadClass, callerOf(request, response), left.signal);
    response.off("close", leave);
    if (turn === "shed") {
      if (!left.signal.aborted) refuse(response, loadClass);
      return;
    }
    try {
      await handle(request, response);
    } finally {
      turn.end();
    }
  };
}

function refuse(response: Response, loadClass: LoadClass): void {
  const seconds = retryAfterSeconds[loadClass];
  response.set("Retry-After", String(seconds));
  const message = `Too many requests are in progress; retry in ${seconds} s`;
  sendRejection(response, overloadRefusals.overloaded, reject("overloaded", message));
}
