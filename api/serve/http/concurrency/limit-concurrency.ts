import type { Request, Response } from "express";
import { reject } from "#projections/domain/rejection.ts";
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
    const wanted = [loadClass, callerOf(request, response)] as const;
    const items = itemsOf(response);
    const slot =
      concurrency.tryAcquire(...wanted, items) ??
      (await whileOpen(response, (left) => concurrency.acquire(...wanted, left, items)));
    if (slot === "shed") {
      if (response.destroyed) return;
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

/** Waits with a signal that aborts when the connection closes. */
async function whileOpen<Result>(
  response: Response,
  wait: (left: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const left = new AbortController();
  const leave = () => left.abort();
  response.once("close", leave);
  try {
    return await wait(left.signal);
  } finally {
    response.off("close", leave);
  }
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
