import type { Logger } from "pino";
import { openTurns } from "#jobs/runner/limits.ts";
import { createSignal, type Signal } from "#jobs/runner/signals.ts";
import type { WebhookEvent, WebhookEvents } from "#jobs/webhooks/courier.ts";
import { formatEventId, idAfterPosition, isAfter } from "#projections/activity/feed-events.ts";
import type { FeedSource, ReadEvent } from "#projections/activity/read-feed.ts";
import { eventFilter, type Framed, presentEvent } from "../feed/event.ts";
import { awaitPart, followLog, singleSnapshots } from "../feed/follow-log.ts";
import { eventIdOf } from "../feed/subscribers.ts";

/** What a delivery contains: the event as the feed tells it. */
function frameBody(event: ReadEvent): Framed {
  const data = presentEvent(event, new Date());
  const body = JSON.stringify({ type: data.type, timestamp: data.timestamp, data });
  return { event, bytes: Buffer.from(body) };
}

const messageOf = ({ event, bytes }: Framed): WebhookEvent => ({
  id: formatEventId(event),
  type: event.retracts === null ? event.content.type : "retracted",
  place: eventIdOf(event),
  body: bytes,
});

type SourceOptions = {
  readonly source: FeedSource;
  readonly logger: Logger;
  readonly signal: AbortSignal;
};

const pollMs = 500;
/** Of the newest events, which all webhooks share. */
const bufferBytes = 8 * 2 ** 20;
/** Held for one webhook, of the buffer or of the log, so that many which are behind hold little. */
const pageBytes = 64 * 1_024;
const partPositions = 250;
/** Webhooks that read the log for themselves at the same time, because they are far behind. */
const readsAtOnce = 2;

/** The feed, as what delivers webhooks reads it (`jobs/webhooks/courier.ts`). */
export function openWebhookEvents({ source, logger, signal }: SourceOptions): WebhookEvents {
  const members = new Set<Signal>();
  const wake = createSignal();
  const reader = { source, snapshots: singleSnapshots(source.db) };
  const turns = openTurns({ atOnce: readsAtOnce });
  const follower = followLog({
    ...reader,
    frame: frameBody,
    wake,
    pollMs,
    bufferBytes,
    logger,
    signal,
    hasSubscribers: () => members.size > 0,
    async onBatch() {
      for (const member of members) member.notify();
    },
  });
  return {
    join(news) {
      members.add(news);
      return () => void members.delete(news);
    },
    async readAfter(place, filter) {
      const matches = eventFilter(filter);
      const buffer = await follower.buffer();
      const next = buffer.after(place, pageBytes);
      if (next !== undefined) {
        const last = next.at(-1);
        const end = last === undefined ? idAfterPosition(buffer.upTo) : eventIdOf(last.event);
        const events = next.filter(({ event }) => matches(event)).map(messageOf);
        return { events, reached: isAfter(end, place) ? end : place };
      }
      const upTo = buffer.upTo;
      const part = await turns.run("", () =>
        awaitPart(reader, place.position - 1n, upTo, partPositions),
      );
      const events = part.events.filter((event) => isAfter(event, place) && matches(event));
      return {
        events: events.map(frameBody).map(messageOf),
        reached: idAfterPosition(part.reached),
      };
    },
    notify: () => wake.notify(),
    stopped: follower.stopped,
  };
}
