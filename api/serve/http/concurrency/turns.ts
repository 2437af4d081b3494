import { type LoadClass, loadClasses, shareOf } from "./load-class.ts";
import { openWaitingLine, type WaitingLine } from "./waiting-line.ts";

type ConcurrencyLimits = {
  /** Requests in progress in this process, and of one caller. */
  readonly total: number;
  readonly perCaller: number;
  /** Requests that wait; beyond it the last class is shed, there the caller with the most. */
  readonly waiting?: number;
  /** Milliseconds that a request waits before it is shed. */
  readonly waitMs?: number;
};

/** Ends a turn; `shed`: there was none. */
type Turn = { readonly end: () => void } | "shed";

export type ClassFigures = {
  readonly inFlight: number;
  readonly waiting: number;
  readonly shed: number;
};

export type Turns = {
  /** Waits for a turn. `left` aborts when the caller does not wait any more. */
  take(loadClass: LoadClass, caller: string, left: AbortSignal): Promise<Turn>;
  figures(): Record<LoadClass, ClassFigures>;
};

type Waiting = {
  readonly loadClass: LoadClass;
  readonly caller: string;
  readonly settle: (turn: Turn) => void;
};

const defaultWaiting = 1_000;
const defaultWaitMs = 5_000;

type ClassState = { readonly line: WaitingLine<Waiting>; inFlight: number; shed: number };

/** Turns of one process: fair between callers, in the order of the classes. */
export function openTurns(limits: ConcurrencyLimits): Turns {
  const { total, perCaller, waiting: maxWaiting = defaultWaiting } = limits;
  const { waitMs = defaultWaitMs } = limits;
  const states = forEachClass(
    (): ClassState => ({ line: openWaitingLine(), inFlight: 0, shed: 0 }),
  );
  const ofCallers = new Map<string, number>();
  let inFlight = 0;

  const mayStart = (caller: string) => (ofCallers.get(caller) ?? 0) < perCaller;
  const hasPlace = (loadClass: LoadClass) => inFlight < Math.max(1, total * shareOf[loadClass]);

  function count(loadClass: LoadClass, caller: string, change: 1 | -1): void {
    inFlight += change;
    states[loadClass].inFlight += change;
    const left = (ofCallers.get(caller) ?? 0) + change;
    if (left === 0) ofCallers.delete(caller);
    else ofCallers.set(caller, left);
  }
  function startNext(): void {
    for (const loadClass of loadClasses) {
      while (hasPlace(loadClass)) {
        const next = states[loadClass].line.next(mayStart);
        if (next === undefined) break;
        start(next);
      }
    }
  }
  function start({ loadClass, caller, settle }: Waiting): void {
    count(loadClass, caller, 1);
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      count(loadClass, caller, -1);
      startNext();
    };
    settle({ end });
  }
  function shed(waiting: Waiting): void {
    const state = states[waiting.loadClass];
    state.line.remove(waiting.caller, waiting);
    state.shed += 1;
    waiting.settle("shed");
  }
  function shedBeyondLimit(): void {
    const sizes = loadClasses.map((loadClass) => states[loadClass].line.size);
    if (sizes.reduce((sum, size) => sum + size, 0) <= maxWaiting) return;
    const last = loadClasses.findLast((loadClass) => states[loadClass].line.size > 0);
    const newest = last && states[last].line.newestOfLongest();
    if (newest !== undefined) shed(newest);
  }

  return {
    take: (loadClass, caller, left) =>
      new Promise((resolve) => {
        const settle = (turn: Turn) => {
          clearTimeout(timer);
          left.removeEventListener("abort", leave);
          resolve(turn);
        };
        const waiting: Waiting = { loadClass, caller, settle };
        const leave = () => shed(waiting);
        const timer = setTimeout(leave, waitMs);
        left.addEventListener("abort", leave);
        states[loadClass].line.add(caller, waiting);
        startNext();
        shedBeyondLimit();
      }),
    figures: () =>
      forEachClass((loadClass) => {
        const { line, inFlight: running, shed: lost } = states[loadClass];
        return { inFlight: running, waiting: line.size, shed: lost };
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
