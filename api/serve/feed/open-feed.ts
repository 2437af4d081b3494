import type { Logger } from "pino";
import { type EventId, placeBehind } from "../../../projections/reads/feed/event.ts";
import type { FeedSource } from "../../../projections/reads/feed/read-feed.ts";
import { createWake } from "../../work/log-signal/wake.ts";
import { bringUp } from "./bring-up.ts";
import { openCrowd } from "./crowd.ts";
import type { Wants } from "./event-filter.ts";
import { followLog } from "./follow-log.ts";
import { openGate } from "./gate.ts";
import { type FeedLimits, feedLimits } from "./limits.ts";
import type { Outlet } from "./outlet.ts";
import { openReader } from "./reader.ts";

type Reading = {
  readonly outlet: Outlet;
  readonly wants: Wants;
  /** Where it goes on; without it with the newest. */
  readonly from: EventId | undefined;
};

/** A live feed of some chains for any number of readers up to a limit. */
export type Feed = {
  readonly source: FeedSource;
  hasRoom(): boolean;
  /** Serves a reader until it goes, is cut or the feed stops. */
  read(reading: Reading): void;
  /** To be rung when the projections have moved. */
  ring(): void;
  /** Readers now, and how many were cut so far. */
  figures(): { readers: number; cut: number };
  /** Ends every stream; nobody is served any more. */
  stop(): Promise<void>;
};

type Options = { source: FeedSource; logger: Logger; limits?: Partial<FeedLimits> };

/** Readers that read the log for themselves at the same time. */
const readingAtOnce = 3;
/** A reader comes back after one to five seconds: after a restart not all come at once. */
const retryMs = { least: 1_000, span: 4_000 };
const lookAfterMs = 1_000;

export function openFeed({ source, logger, limits: given }: Options): Feed {
  const limits = { ...feedLimits, ...given };
  const stopping = new AbortController();
  const { signal } = stopping;
  const wake = createWake();
  const gate = openGate(readingAtOnce);
  const crowd = openCrowd(limits);
  const { lookMs, tapeBytes } = limits;
  const follower = followLog({
    ...{ source, wake, lookMs, tapeBytes, logger, signal },
    isRead: () => crowd.size > 0,
    onBatch: crowd.deliver,
  });
  const looking = setInterval(crowd.lookAfter, Math.min(lookAfterMs, limits.heartbeatMs / 4));

  const serve = async ({ outlet, wants, from }: Reading) => {
    const tape = await follower.tape();
    if (outlet.isClosed) return;
    const place = from ?? placeBehind(tape.told);
    const reader = openReader({ outlet, place, wants, now: () => performance.now() });
    crowd.add(reader);
    reader.greet(retryMs.least + Math.floor(Math.random() * retryMs.span));
    await bringUp(reader, tape, { source, gate, onArrived: () => crowd.join(reader) });
  };
  return {
    source,
    hasRoom: () => !signal.aborted && crowd.hasRoom(),
    read(reading) {
      crowd.enter(reading.outlet);
      serve(reading).catch((error: unknown) => {
        if (!signal.aborted) logger.warn({ err: error }, "a reader of the feed is sent away");
        reading.outlet.end();
      });
    },
    ring: () => wake.ring(),
    figures: () => ({ readers: crowd.size, cut: crowd.cut }),
    async stop() {
      stopping.abort();
      clearInterval(looking);
      crowd.dismiss();
      await follower.over;
    },
  };
}
