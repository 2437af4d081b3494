import { type EventId, idAfterPosition, isAfter } from "#projections/activity/feed-events.ts";
import type { Framed } from "./frame.ts";

/** The newest events of the feed, in memory. */
export type ReplayBuffer = {
  /** The position up to which all events were added. */
  readonly upTo: bigint;
  add(events: readonly Framed[], upTo: bigint): void;
  /** The next events after an event id, about `mostBytes` of them; undefined when the buffer starts later. */
  after(place: EventId, mostBytes: number): readonly Framed[] | undefined;
};

/** Starts after a position, and drops its oldest events beyond `mostBytes`. */
export function openReplayBuffer(position: bigint, mostBytes: number): ReplayBuffer {
  let addedUpTo = position;
  let begin = idAfterPosition(position);
  let held: Framed[] = [];
  let bytes = 0;

  /** Trims many events at once, since each trim copies the array. */
  const trim = () => {
    if (bytes <= mostBytes) return;
    let cut = 0;
    while (cut < held.length && bytes > mostBytes * keptShare) {
      bytes -= held[cut]?.bytes.length ?? 0;
      cut += 1;
    }
    const last = held[cut - 1];
    if (last !== undefined) begin = last.event;
    held = held.slice(cut);
  };

  return {
    get upTo() {
      return addedUpTo;
    },
    add(events, upTo) {
      for (const one of events) {
        held.push(one);
        bytes += one.bytes.length;
      }
      addedUpTo = upTo;
      trim();
    },
    after(place, most) {
      if (isAfter(begin, place)) return undefined;
      const first = firstAfter(held, place);
      let end = first;
      for (let size = 0; end < held.length && size < most; end += 1) {
        size += held[end]?.bytes.length ?? 0;
      }
      return held.slice(first, end);
    },
  };
}

const keptShare = 0.75;

/** Index of the first event after an event id. */
function firstAfter(held: readonly Framed[], place: EventId): number {
  let [low, high] = [0, held.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const one = held[middle];
    if (one !== undefined && isAfter(one.event, place)) high = middle;
    else low = middle + 1;
  }
  return low;
}
