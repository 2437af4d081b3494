import {
  type EventId,
  type FeedEvent,
  formatEventId,
} from "../../../projections/reads/feed/event.ts";
import { presentEvent } from "../views/event.ts";

/** An event as it goes over the wire, made once for all who read it. */
export type Framed = { readonly event: FeedEvent; readonly bytes: Buffer };

/** A server-sent event with the names of the account API: JSON holds no line break. */
export function frameEvent(event: FeedEvent): Framed {
  const presented = presentEvent(event);
  const { id, type } = presented;
  const data = JSON.stringify(
    Object.fromEntries(Object.entries(presented).map(([name, value]) => [snakeCase(name), value])),
  );
  return { event, bytes: Buffer.from(`id: ${id}\nevent: ${type}\ndata: ${data}\n\n`) };
}

const snakeNames = new Map<string, string>();

function snakeCase(name: string): string {
  const known = snakeNames.get(name);
  if (known !== undefined) return known;
  const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  snakeNames.set(name, snake);
  return snake;
}

/** Keeps a silent stream open, and moves the reader's place on: without data nothing is dispatched there. */
export function heartbeatAt(place: EventId): Buffer {
  return Buffer.from(`: heartbeat\nid: ${formatEventId(place)}\n\n`);
}

/** What a stream begins with: how long to wait before coming back, and where the reader stands. */
export function greetingAt(place: EventId, retryMs: number): Buffer {
  return Buffer.from(`retry: ${retryMs}\nid: ${formatEventId(place)}\n\n`);
}
