import type { Request, Response } from "express";
import { reject } from "../../../../projections/domain/rejection.ts";
import { sendRejection } from "../answer.ts";
import { callerOf } from "../limit.ts";
import type { ConcurrencyLimiter } from "./concurrency-limiter.ts";
import { type LoadClass, retryAfterSeconds } from "./load-class.ts";

/** Code of every endpoint whose concurrency is limited. */
export const overloadRefusals = { overloaded: 503 } as const;

type Handler = (request: Request, response: Response) => Promise<void>;
/** Answers a request that is shed; `Retry-After` is set. */
type Shed = (request: Request, response: Response) => void;

/** Handles a request when it gets a slot; 503 with `Retry-After` when it gets none in time. */
export function limitConcurrency(
  concurrency: ConcurrencyLimiter,
  loadClass: LoadClass,
  handle: Handler,
  shed: Shed = (_request, response) => refuse(response, loadClass),
): Handler {
  return async (request, response) => {
    const left = new AbortController();
    const leave = () => left.abort();
    response.once("close", leave);
    const caller = callerOf(request, response);
    const slot = await concurrency.acquire(loadClass, caller, left.signal, itemsOf(response));
    response.off("close", leave);
    if (slot === "shed") {
      if (left.signal.aborted) return;
      response.set("Retry-After", String(retryAfterSeconds[loadClass]));
      shed(request, response);
      return;
    }
    try {
      await handle(request, response);
    } finally {
      slot.release();
    }
  };
}

/** Notes how many items a bulk request has, once its body is read. */
export function setItems(response: Response, items: number): void {
  response.locals.items = items;
}

const itemsOf = (response: Response) => Number(response.locals.items ?? 1);

function refuse(response: Response, loadClass: LoadClass): void {
  const seconds = retryAfterSeconds[loadClass];
  const message = `Too many requests are in progress; retry in ${seconds} s`;
  sendRejection(response, overloadRefusals.overloaded, reject("overloaded", message));
}
