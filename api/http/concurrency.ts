import type { Request, Response } from "express";
import { type FairQueue, openCounts, openFairQueue } from "#jobs/runner/limits.ts";
import { reject } from "#projections/domain/rejection.ts";
import { sendRejection } from "./answer.ts";
import { callerOf } from "./limit.ts";

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

/** Classes of requests, in the order in which they are served; under load the last one is shed first. */
export const loadClasses = ["book", "orders", "data", "lists"] as const;

/**
 * `book`: reads of listings and bids. `orders`: submitting, buying, accepting. `data`: single rows and figures.
 * `lists`: long reads.
 */
export type LoadClass = (typeof loadClasses)[number];

/** A class starts a request only while fewer than this share of all places are taken. */
const shareOf: Record<LoadClass, number> = { book: 1, orders: 0.75, data: 0.5, lists: 0.25 };

/**
 * A class starts a request, too, while it has fewer than this share of all places in progress: else one caller, whose slow
 * requests of another class take a quarter of the places, would stop everybody's lists.
 */
const ownShare = 1 / 16;

/** Of a class's places one caller has at most this share: its slow requests leave the class to the others. */
const callerShare = 1 / 4;

/** `Retry-After` of a shed request, in seconds: what is shed first comes back last. */
const retryAfterSeconds: Record<LoadClass, number> = {
  book: 1,
  orders: 2,
  data: 5,
  lists: 10,
};

type ConcurrencyLimits = {
  /** Requests in progress in this process. */
  readonly total: number;
  /** Of one caller. A bulk request counts as its items there, up to half of them: few reads must not keep it waiting. */
  readonly perCaller: number;
  /** Requests that wait; beyond it the last class is shed, there the caller with the most. */
  readonly waiting?: number;
  /** Milliseconds that a request waits before it is shed. */
  readonly waitMs?: number;
};

/** A place among the requests in progress. */
type Slot = { readonly release: () => void };

export type ClassFigures = {
  readonly inFlight: number;
  readonly waiting: number;
  readonly shed: number;
};

export type ConcurrencyLimiter = {
  /** A slot that is free now; undefined: the request has to wait. `items`: of a bulk request, 1 by default. */
  tryAcquire(loadClass: LoadClass, caller: string, items?: number): Slot | undefined;
  /** Waits for a slot; `shed`: none was free in time. `left` aborts when the caller does not wait any more. */
  acquire(
    loadClass: LoadClass,
    caller: string,
    left: AbortSignal,
    items?: number,
  ): Promise<Slot | "shed">;
  figures(): Record<LoadClass, ClassFigures>;
};

type Wanted = {
  readonly loadClass: LoadClass;
  readonly caller: string;
  /** That it takes of its caller's. */
  readonly places: number;
};

type Waiting = Wanted & { readonly settle: (slot: Slot | "shed") => void };

const defaultWaiting = 1_000;
const defaultWaitMs = 5_000;

type ClassState = { readonly queue: FairQueue<Waiting>; inFlight: number; shed: number };

/** ConcurrencyLimiter of one process: fair between callers, in the order of the classes. */
export function openConcurrencyLimiter(limits: ConcurrencyLimits): ConcurrencyLimiter {
  const { total, perCaller, waiting: maxWaiting = defaultWaiting } = limits;
  const { waitMs = defaultWaitMs } = limits;
  const states = forEachClass((): ClassState => ({ queue: openFairQueue(), inFlight: 0, shed: 0 }));
  const ofCallers = openCounts();
  const ofClasses = openCounts();
  let inFlight = 0;

  const placesOf = (items: number) => Math.max(1, Math.min(items, Math.floor(perCaller / 2)));
  const mostOfClass = (loadClass: LoadClass) => Math.ceil(total * shareOf[loadClass] * callerShare);
  const inClass = ({ loadClass, caller }: Wanted) => `${loadClass} ${caller}`;
  const mayStart = (wanted: Wanted) =>
    ofCallers.of(wanted.caller) + wanted.places <= perCaller &&
    ofClasses.of(inClass(wanted)) < mostOfClass(wanted.loadClass);
  const hasPlace = (loadClass: LoadClass) =>
    inFlight < Math.max(1, total * shareOf[loadClass]) ||
    (inFlight < total && states[loadClass].inFlight < total * ownShare);

  function count(wanted: Wanted, change: 1 | -1): void {
    inFlight += change;
    states[wanted.loadClass].inFlight += change;
    ofCallers.add(wanted.caller, change * wanted.places);
    ofClasses.add(inClass(wanted), change);
  }
  function startNext(): void {
    for (const loadClass of loadClasses) {
      while (hasPlace(loadClass)) {
        const next = states[loadClass].queue.next(mayStart);
        if (next === undefined) break;
        next.settle(start(next));
      }
    }
  }
  function start(wanted: Wanted): Slot {
    count(wanted, 1);
    let isReleased = false;
    const release = () => {
      if (isReleased) return;
      isReleased = true;
      count(wanted, -1);
      startNext();
    };
    return { release };
  }
  function shed(waiting: Waiting): void {
    const state = states[waiting.loadClass];
    state.queue.remove(waiting.caller, waiting);
    state.shed += 1;
    waiting.settle("shed");
  }
  function shedBeyondLimit(): void {
    const sizes = loadClasses.map((loadClass) => states[loadClass].queue.size);
    if (sizes.reduce((sum, size) => sum + size, 0) <= maxWaiting) return;
    const last = loadClasses.findLast((loadClass) => states[loadClass].queue.size > 0);
    const newest = last && states[last].queue.newestOfLongestQueue();
    if (newest !== undefined) shed(newest);
  }

  return {
    tryAcquire(loadClass, caller, items = 1) {
      const wanted = { loadClass, caller, places: placesOf(items) };
      const isFree = states[loadClass].queue.size === 0 && hasPlace(loadClass) && mayStart(wanted);
      return isFree ? start(wanted) : undefined;
    },
    acquire: (loadClass, caller, left, items = 1) =>
      new Promise((resolve) => {
        const settle = (slot: Slot | "shed") => {
          clearTimeout(timer);
          left.removeEventListener("abort", leave);
          resolve(slot);
        };
        const waiting: Waiting = { loadClass, caller, places: placesOf(items), settle };
        const leave = () => shed(waiting);
        const timer = setTimeout(leave, waitMs);
        left.addEventListener("abort", leave);
        states[loadClass].queue.add(caller, waiting);
        startNext();
        shedBeyondLimit();
      }),
    figures: () =>
      forEachClass((loadClass) => {
        const { queue, inFlight: running, shed: lost } = states[loadClass];
        return { inFlight: running, waiting: queue.size, shed: lost };
      }),
  };
}

function forEachClass<Value>(make: (loadClass: LoadClass) => Value): Record<LoadClass, Value> {
  return {
    book: make("book"),
    orders: make("orders"),
    data: make("data"),
    lists: make("lists"),
  };
}
