import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { type FeedLimits, type StreamOpener, shareOfPlaces } from "./limits.ts";
import type { SseConnection } from "./sse-connection.ts";
import type { Batch, Subscriber } from "./subscriber.ts";

/** The connected subscribers of this process, and their limits. */
export type Subscribers = {
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
  broadcast(batch: Batch): Promise<void>;
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
