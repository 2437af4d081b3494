import { once } from "node:events";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Response } from "express";
import { type EventId, type FeedEvent, isAfter } from "#projections/activity/feed-events.ts";
import { type EventPredicate, type Framed, greetingAt, heartbeatAt, isUnasked } from "./event.ts";

/** The connected subscribers of this process, and their limits. */
type Subscribers = {
  hasRoom(opener: StreamOpener): boolean;
  readonly size: number;
  /** Subscribers disconnected so far for being too slow. */
  readonly disconnected: number;
  /** Counts the connection until it closes. */
  reserve(connection: SseConnection): void;
  /** Includes the subscriber in `maintain`. */
  add(subscriber: Subscriber): void;
  /** Includes the subscriber in `broadcast`. */
  goLive(subscriber: Subscriber): void;
  /** Sends a batch to every live subscriber, yielding to the event loop in between. */
  broadcast(batch: EventBatch): Promise<void>;
  /** Called periodically: sends heartbeats, ends stalled and old streams. */
  maintain(): void;
  /** Ends every stream. */
  closeAll(): void;
};

export function openSubscribers(limits: FeedLimits): Subscribers {
  const connections = new Set<SseConnection>();
  const all = new Set<Subscriber>();
  const live = new Set<Subscriber>();
  let disconnected = 0;

  const disconnect = (subscriber: Subscriber) => {
    all.delete(subscriber);
    live.delete(subscriber);
    disconnected += 1;
    subscriber.connection.destroy();
  };
  const check = (subscriber: Subscriber) => {
    if (subscriber.stalledMs > limits.stalledMs) disconnect(subscriber);
    else if (subscriber.ageMs > limits.maxAgeMs) subscriber.connection.end();
    else subscriber.sendHeartbeat(limits.heartbeatMs);
  };
  return {
    hasRoom: (opener) => connections.size < limits.maxSubscribers * shareOfPlaces[opener],
    get size() {
      return connections.size;
    },
    get disconnected() {
      return disconnected;
    },
    reserve(connection) {
      connections.add(connection);
      connection.onClose(() => connections.delete(connection));
    },
    add(subscriber) {
      all.add(subscriber);
      subscriber.connection.onClose(() => {
        all.delete(subscriber);
        live.delete(subscriber);
      });
    },
    goLive: (subscriber) => void live.add(subscriber),
    async broadcast(batch) {
      const maxUnsentBytes = unsentBytesOf(limits, live.size);
      let served = 0;
      for (const subscriber of live) {
        if (subscriber.connection.unsentBytes > maxUnsentBytes) disconnect(subscriber);
        else subscriber.send(batch);
        served += 1;
        if (served % subscribersPerTurn === 0) await yieldToEventLoop();
      }
    },
    maintain: () => all.forEach(check),
    closeAll() {
      for (const connection of connections) connection.end();
    },
  };
}

const subscribersPerTurn = 200;

/** The total is shared: with many subscribers each may buffer less. */
function unsentBytesOf(
  { unsentBytes, unsentBytesTogether }: FeedLimits,
  subscribers: number,
): number {
  return Math.min(unsentBytes, unsentBytesTogether / Math.max(1, subscribers));
}

/** Events sent together, up to `end`. `bytes` is all of them that come unasked, as most subscribers get them. */
export type EventBatch = {
  readonly events: readonly Framed[];
  readonly bytes: Buffer;
  readonly end: EventId;
};

export function batchOf(events: readonly Framed[], end: EventId): EventBatch {
  const unasked = events.filter(({ event }) => isUnasked(event));
  return { events, end, bytes: Buffer.concat(unasked.map(({ bytes }) => bytes)) };
}

/** Splits many events into several batches: what is written at once is multiplied by the number of subscribers. */
export function batchesOf(events: readonly Framed[], end: EventId): EventBatch[] {
  const batches: EventBatch[] = [];
  let [first, size] = [0, 0];
  for (const [index, { event, bytes }] of events.entries()) {
    size += bytes.length;
    if (size < batchBytes || index === events.length - 1) continue;
    batches.push(batchOf(events.slice(first, index + 1), eventIdOf(event)));
    [first, size] = [index + 1, 0];
  }
  return [...batches, batchOf(events.slice(first), end)];
}

const batchBytes = 64 * 1_024;

/** A connected client and how far it has received events. */
export type Subscriber = {
  readonly connection: SseConnection;
  readonly matches: EventPredicate;
  readonly cursor: EventId;
  sendGreeting(retryMs: number): void;
  /** Writes the events of a batch that match and were not sent yet, and advances to the batch's end. */
  send(batch: EventBatch): void;
  /** Sends a heartbeat if nothing was written for `silentMs`. */
  sendHeartbeat(silentMs: number): void;
  readonly ageMs: number;
  /** Milliseconds since its connection last accepted everything. */
  readonly stalledMs: number;
};

type SubscriberOptions = {
  connection: SseConnection;
  cursor: EventId;
  matches: EventPredicate;
  now: () => number;
};

export function openSubscriber({
  connection,
  cursor: from,
  matches,
  now,
}: SubscriberOptions): Subscriber {
  const sendsUnasked = matches === isUnasked;
  const startedAt = now();
  let cursor = from;
  let wroteAt = now();
  let drainedAt = now();
  const write = (bytes: Buffer) => {
    if (connection.unsentBytes === 0) drainedAt = now();
    wroteAt = now();
    connection.write(bytes);
  };
  const chooseBytes = ({ events, bytes }: EventBatch): Buffer => {
    const isNew = events[0] !== undefined && isAfter(events[0].event, cursor);
    if (sendsUnasked && isNew) return bytes;
    const chosen = events.filter(
      ({ event }) => (isNew || isAfter(event, cursor)) && matches(event),
    );
    return Buffer.concat(chosen.map((one) => one.bytes));
  };
  return {
    connection,
    matches,
    get cursor() {
      return cursor;
    },
    sendGreeting(retryMs) {
      write(greetingAt(cursor, retryMs));
    },
    send(batch) {
      const bytes = chooseBytes(batch);
      if (bytes.length > 0) write(bytes);
      if (isAfter(batch.end, cursor)) cursor = batch.end;
    },
    sendHeartbeat(silentMs) {
      if (connection.unsentBytes === 0) drainedAt = now();
      if (now() - wroteAt >= silentMs) write(heartbeatAt(cursor));
    },
    get ageMs() {
      return now() - startedAt;
    },
    get stalledMs() {
      return connection.unsentBytes === 0 ? 0 : now() - drainedAt;
    },
  };
}

export function eventIdOf({ position, ordinal }: FeedEvent): EventId {
  return { position, ordinal };
}

/** The connection to one subscriber. */
export type SseConnection = {
  write(bytes: Buffer): void;
  /** Bytes written but not accepted by the socket. */
  readonly unsentBytes: number;
  /** Settles when the write buffer is empty, or the connection is closed. */
  drained(): Promise<void>;
  readonly isClosed: boolean;
  onClose(heard: () => void): void;
  /** Ends the stream in order: the client reconnects with its last event id. */
  end(): void;
  /** Closes the socket and discards unsent bytes. */
  destroy(): void;
};

export function sseConnection(response: Response): SseConnection {
  // A broken connection also emits `close`.
  response.on("error", () => {});
  return {
    write: (bytes) => void response.write(bytes),
    get unsentBytes() {
      return response.writableLength;
    },
    async drained() {
      const over = new AbortController();
      const { signal } = over;
      const settled = [once(response, "drain", { signal }), once(response, "close", { signal })];
      if (response.writableNeedDrain && !response.closed) await Promise.race(settled);
      for (const one of settled) one.catch(() => undefined);
      over.abort();
    },
    get isClosed() {
      return response.destroyed || response.writableEnded;
    },
    onClose: (heard) => void response.once("close", heard),
    end: () => void response.end(),
    destroy: () => void response.destroy(),
  };
}

/** Limits of the feed in one process. */
export type FeedLimits = {
  readonly maxSubscribers: number;
  /** Unsent bytes allowed per subscriber, and for all of them together. */
  readonly unsentBytes: number;
  readonly unsentBytesTogether: number;
  /** A connection that accepts nothing for this long is closed. */
  readonly stalledMs: number;
  readonly heartbeatMs: number;
  /** Streams end after this time, so that the client's token is checked again when it reconnects. */
  readonly maxAgeMs: number;
  /** Size of the replay buffer. */
  readonly bufferBytes: number;
  /** Poll interval for the log when no notification arrives. */
  readonly pollMs: number;
};

const mebibyte = 2 ** 20;

export const feedLimits: FeedLimits = {
  maxSubscribers: 4_000,
  unsentBytes: mebibyte,
  unsentBytesTogether: 256 * mebibyte,
  stalledMs: 60_000,
  heartbeatMs: 15_000,
  maxAgeMs: 3_600_000,
  bufferBytes: 8 * mebibyte,
  pollMs: 500,
};

/**
 * Who opens a stream, and how much of a feed may be taken when it is opened. Pages and instant keys cost a stranger
 * nothing: the last half is kept for keys, the last quarter for those that an account or the operator has made.
 */
const shareOfPlaces = { page: 1 / 2, "instant key": 3 / 4, key: 1 } as const;

export type StreamOpener = keyof typeof shareOfPlaces;
