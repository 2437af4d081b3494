import { type EventId, isAfter, placeBehind } from "../../../projections/reads/feed/event.ts";
import type { Framed } from "./frame.ts";

/** The newest stretch of the feed, in memory. */
export type Tape = {
  /** All events up to this position were put on it. */
  readonly told: bigint;
  add(events: readonly Framed[], told: bigint): void;
  /** The next events behind a place, of about `mostBytes`; undefined where the tape begins later. */
  behind(place: EventId, mostBytes: number): readonly Framed[] | undefined;
};

/** Begins behind a position, and forgets its oldest events where there are more than `mostBytes`. */
export function openTape(position: bigint, mostBytes: number): Tape {
  let told = position;
  let begin = placeBehind(position);
  let held: Framed[] = [];
  let bytes = 0;

  /** Cut in pieces: the array moves once for many events. */
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
    get told() {
      return told;
    },
    add(events, upTo) {
      for (const one of events) {
        held.push(one);
        bytes += one.bytes.length;
      }
      told = upTo;
      trim();
    },
    behind(place, most) {
      if (isAfter(begin, place)) return undefined;
      const first = firstBehind(held, place);
      let end = first;
      for (let size = 0; end < held.length && size < most; end += 1) {
        size += held[end]?.bytes.length ?? 0;
      }
      return held.slice(first, end);
    },
  };
}

const keptShare = 0.75;

/** Index of the first event behind a place. */
function firstBehind(held: readonly Framed[], place: EventId): number {
  let [low, high] = [0, held.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const one = held[middle];
    if (one !== undefined && isAfter(one.event, place)) high = middle;
    else low = middle + 1;
  }
  return low;
}
