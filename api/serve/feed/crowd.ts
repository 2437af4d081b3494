import { setImmediate as breathe } from "node:timers/promises";
import type { FeedLimits } from "./limits.ts";
import type { Outlet } from "./outlet.ts";
import type { Batch, Reader } from "./reader.ts";

/** Everybody who reads, and what each may leave unread. */
export type Crowd = {
  hasRoom(): boolean;
  readonly size: number;
  /** How many were thrown out so far. */
  readonly cut: number;
  /** Takes a place until the connection closes. */
  enter(outlet: Outlet): void;
  /** Is looked after from here on. */
  add(reader: Reader): void;
  /** Hears every batch from here on. */
  join(reader: Reader): void;
  /** Gives a batch to everybody; other work of the process comes in between. */
  deliver(batch: Batch): Promise<void>;
  /** To be called now and then: heartbeats, and an end for who takes nothing or reads for too long. */
  lookAfter(): void;
  /** Ends every stream. */
  dismiss(): void;
};

export function openCrowd(limits: FeedLimits): Crowd {
  const outlets = new Set<Outlet>();
  const readers = new Set<Reader>();
  const live = new Set<Reader>();
  let cut = 0;

  const throwOut = (reader: Reader) => {
    readers.delete(reader);
    live.delete(reader);
    cut += 1;
    reader.outlet.cut();
  };
  const lookAt = (reader: Reader) => {
    if (reader.stalledMs > limits.stalledMs) throwOut(reader);
    else if (reader.ageMs > limits.lifeMs) reader.outlet.end();
    else reader.beat(limits.heartbeatMs);
  };
  return {
    hasRoom: () => outlets.size < limits.readers,
    get size() {
      return outlets.size;
    },
    get cut() {
      return cut;
    },
    enter(outlet) {
      outlets.add(outlet);
      outlet.onClose(() => outlets.delete(outlet));
    },
    add(reader) {
      readers.add(reader);
      reader.outlet.onClose(() => {
        readers.delete(reader);
        live.delete(reader);
      });
    },
    join: (reader) => void live.add(reader),
    async deliver(batch) {
      const mostUnsent = unsentBytesOf(limits, live.size);
      let served = 0;
      for (const reader of live) {
        if (reader.outlet.unsent > mostUnsent) throwOut(reader);
        else reader.take(batch);
        served += 1;
        if (served % servedAtOnce === 0) await breathe();
      }
    },
    lookAfter: () => readers.forEach(lookAt),
    dismiss() {
      for (const outlet of outlets) outlet.end();
    },
  };
}

const servedAtOnce = 200;

/** Where many read, each may leave less. */
function unsentBytesOf({ unsentBytes, unsentBytesTogether }: FeedLimits, readers: number): number {
  return Math.min(unsentBytes, unsentBytesTogether / Math.max(1, readers));
}
