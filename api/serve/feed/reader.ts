import { type EventId, type FeedEvent, isAfter } from "../../../projections/reads/feed/event.ts";
import { type Wants, wantsAll } from "./event-filter.ts";
import { type Framed, greetingAt, heartbeatAt } from "./frame.ts";
import type { Outlet } from "./outlet.ts";

/** Events that go out together, up to a place. `bytes` is all of them. */
export type Batch = {
  readonly events: readonly Framed[];
  readonly bytes: Buffer;
  readonly end: EventId;
};

export function batchOf(events: readonly Framed[], end: EventId): Batch {
  return { events, end, bytes: Buffer.concat(events.map(({ bytes }) => bytes)) };
}

/** What is much goes out in several: what one reader is given at once is multiplied by all of them. */
export function batchesOf(events: readonly Framed[], end: EventId): Batch[] {
  const batches: Batch[] = [];
  let [first, size] = [0, 0];
  for (const [index, { event, bytes }] of events.entries()) {
    size += bytes.length;
    if (size < batchBytes || index === events.length - 1) continue;
    batches.push(batchOf(events.slice(first, index + 1), placeOf(event)));
    [first, size] = [index + 1, 0];
  }
  return [...batches, batchOf(events.slice(first), end)];
}

const batchBytes = 64 * 1_024;

/** Who reads, and how far it is. */
export type Reader = {
  readonly outlet: Outlet;
  readonly wants: Wants;
  readonly place: EventId;
  greet(retryMs: number): void;
  /** Writes what it wants of a batch and does not have, at once, and is behind the batch then. */
  take(batch: Batch): void;
  /** Says that it is alive where it said nothing for so long. */
  beat(silentMs: number): void;
  readonly ageMs: number;
  /** Milliseconds for which its connection has had something to take. */
  readonly stalledMs: number;
};

type Options = { outlet: Outlet; place: EventId; wants: Wants; now: () => number };

export function openReader({ outlet, place: from, wants, now }: Options): Reader {
  const takesAll = wantsAll(wants);
  const begunAt = now();
  let place = from;
  let wroteAt = now();
  let freeAt = now();
  const write = (bytes: Buffer) => {
    if (outlet.unsent === 0) freeAt = now();
    wroteAt = now();
    outlet.write(bytes);
  };
  return {
    outlet,
    wants,
    get place() {
      return place;
    },
    greet(retryMs) {
      write(greetingAt(place, retryMs));
    },
    take(batch) {
      const [first] = batch.events;
      if (first !== undefined) {
        const isNew = isAfter(first.event, place);
        if (takesAll && isNew) write(batch.bytes);
        else {
          const chosen = batch.events.filter(
            ({ event }) => (isNew || isAfter(event, place)) && wants(event),
          );
          if (chosen.length > 0) write(Buffer.concat(chosen.map(({ bytes }) => bytes)));
        }
      }
      if (isAfter(batch.end, place)) place = batch.end;
    },
    beat(silentMs) {
      if (outlet.unsent === 0) freeAt = now();
      if (now() - wroteAt >= silentMs) write(heartbeatAt(place));
    },
    get ageMs() {
      return now() - begunAt;
    },
    get stalledMs() {
      return outlet.unsent === 0 ? 0 : now() - freeAt;
    },
  };
}

export function placeOf({ position, ordinal }: FeedEvent): EventId {
  return { position, ordinal };
}
