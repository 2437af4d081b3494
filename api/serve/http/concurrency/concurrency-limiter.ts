import { type FairQueue, openFairQueue } from "./fair-queue.ts";
import { callerShare, type LoadClass, loadClasses, ownShare, shareOf } from "./load-class.ts";

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
    ofCallers.get(wanted.caller) + wanted.places <= perCaller &&
    ofClasses.get(inClass(wanted)) < mostOfClass(wanted.loadClass);
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

/** Counts by name; a name without any takes no memory. */
function openCounts() {
  const counts = new Map<string, number>();
  return {
    get: (name: string) => counts.get(name) ?? 0,
    add(name: string, change: number) {
      const left = (counts.get(name) ?? 0) + change;
      if (left === 0) counts.delete(name);
      else counts.set(name, left);
    },
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
