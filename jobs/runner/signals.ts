import pg from "pg";
import type { Logger } from "pino";
import { keptAlive } from "#projections/log/database.ts";
import { DatabaseUnavailable } from "#projections/log/database-failure.ts";
import type { Waker } from "./job.ts";

/** Many notify, one waits; a notification while nobody waits is kept for the next wait. */
export type Signal = {
  notify(): void;
  /**
   * Resolves at the next notification, after `atMostMs` without one, or when `signal` is aborted; to whether there was
   * a notification.
   */
  wait(atMostMs: number, signal: AbortSignal): Promise<boolean>;
};

/** Of a timer. */
const longestMs = 2 ** 31 - 1;

export function createSignal(): Signal {
  let isPending = false;
  let wakeUp: (() => void) | undefined;
  return {
    notify() {
      isPending = true;
      wakeUp?.();
    },
    async wait(atMostMs, signal) {
      if (!isPending && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, Math.min(atMostMs, longestMs));
          wakeUp = () => {
            clearTimeout(timer);
            resolve();
          };
          signal.addEventListener("abort", wakeUp, { once: true });
        });
        if (wakeUp !== undefined) signal.removeEventListener("abort", wakeUp);
        wakeUp = undefined;
      }
      const wasNotified = isPending;
      isPending = false;
      return wasNotified;
    },
  };
}

/** Passes on at most one notification per `everyMs`, delayed by as much. */
export function createThrottledSignal(everyMs: number): Signal {
  const { notify: notifyNow, wait } = createSignal();
  let timer: NodeJS.Timeout | undefined;
  return {
    notify() {
      if (timer !== undefined) return;
      timer = setTimeout(() => {
        timer = undefined;
        notifyNow();
      }, everyMs);
      timer.unref();
    },
    wait,
  };
}

/** Milliseconds between polls, before and after notifications arrive. */
const pollMs = { unnotified: 250, notified: 3_000 };

/** A signal of work that may also come without a notification. */
export type PolledSignal = Waker & {
  /** To be called when there was work. */
  found(): void;
};

/**
 * Polls less often once notifications arrive, and as before when work was found without one: Ponder sends none while it
 * reads history, and a connection may be lost.
 */
export function createPolledSignal({ wait }: Pick<Signal, "wait">): PolledSignal {
  let areArriving = false;
  let wasNotified = false;
  return {
    found() {
      if (!wasNotified) areArriving = false;
    },
    async wait(atMostMs, signal) {
      const everyMs = areArriving ? pollMs.notified : pollMs.unnotified;
      wasNotified = await wait(Number.isFinite(atMostMs) ? atMostMs : everyMs, signal);
      if (wasNotified) areArriving = true;
    },
  };
}

export type Listener = {
  /** Subscribes to another channel. */
  listen(channel: string): Promise<void>;
  stop(): Promise<void>;
};

const RECONNECT_MS = 500;

/**
 * Listens for PostgreSQL notifications on a dedicated connection and reconnects when it is lost. Notifications sent
 * meanwhile are lost: callers also poll.
 */
export function openListener(options: {
  url: string;
  channels: readonly string[];
  onNotify: (channel: string) => void;
  logger: Logger;
}): Listener {
  const channels = new Set(options.channels);
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const connect = async () => {
    const next = new pg.Client({
      ...{ connectionString: options.url, application_name: "listener" },
      ...keptAlive,
    });
    next.on("notification", ({ channel }) => options.onNotify(channel));
    next.on("error", () => reconnect(next));
    next.on("end", () => reconnect(next));
    client = next;
    await next.connect();
    for (const channel of channels) await next.query(`listen ${pg.escapeIdentifier(channel)}`);
  };
  const reconnect = (lost: pg.Client) => {
    if (stopped || client !== lost) return;
    client = undefined;
    timer = setTimeout(begin, RECONNECT_MS);
  };
  const begin = () => {
    connect().catch((error: unknown) => {
      const err = new DatabaseUnavailable(error);
      options.logger.warn({ err }, "listening for notifications failed, retrying");
      if (client !== undefined) reconnect(client);
    });
  };
  begin();

  return {
    async listen(channel) {
      if (channels.has(channel)) return;
      channels.add(channel);
      await client?.query(`listen ${pg.escapeIdentifier(channel)}`);
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await client?.end();
    },
  };
}
