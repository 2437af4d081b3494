import { type EventId, type FeedEvent, isAfter } from "#projections/activity/feed-events.ts";
import { type EventPredicate, matchesEverything } from "./event-filter.ts";
import { type Framed, greetingAt, heartbeatAt } from "./frame.ts";
import type { SseConnection } from "./sse-connection.ts";

/** Events sent together, up to `end`. `bytes` is all of them. */
export type Batch = {
  readonly events: readonly Framed[];
  readonly bytes: Buffer;
  readonly end: EventId;
};

export function batchOf(events: readonly Framed[], end: EventId): Batch {
  return { events, end, bytes: Buffer.concat(events.map(({ bytes }) => bytes)) };
}

/** Splits many events into several batches: what is written at once is multiplied by the number of subscribers. */
export function batchesOf(events: readonly Framed[], end: EventId): Batch[] {
  const batches: Batch[] = [];
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
  send(batch: Batch): void;
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
  const sendsAll = matchesEverything(matches);
  const startedAt = now();
  let cursor = from;
  let wroteAt = now();
  let drainedAt = now();
  const write = (bytes: Buffer) => {
    if (connection.unsentBytes === 0) drainedAt = now();
    wroteAt = now();
    connection.write(bytes);
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
      const [first] = batch.events;
      if (first !== undefined) {
        const isNew = isAfter(first.event, cursor);
        if (sendsAll && isNew) write(batch.bytes);
        else {
          const chosen = batch.events.filter(
            ({ event }) => (isNew || isAfter(event, cursor)) && matches(event),
          );
          if (chosen.length > 0) write(Buffer.concat(chosen.map(({ bytes }) => bytes)));
        }
      }
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
