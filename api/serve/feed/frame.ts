import {
  type EventId,
  type FeedEvent,
  formatEventId,
} from "../../../projections/reads/feed/event.ts";
import { presentEvent } from "../views/event.ts";

/** An event serialized for the wire, once for all subscribers. */
export type Framed = { readonly event: FeedEvent; readonly bytes: Buffer };

/** A server-sent event with the account API's snake_case names; JSON contains no line breaks. */
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

/** Keeps an idle stream open and advances the client's last event id; without data the client dispatches nothing. */
export function heartbeatAt(place: EventId): Buffer {
  return Buffer.from(`: heartbeat\nid: ${formatEventId(place)}\n\n`);
}

/** The start of a stream: the reconnection delay and the client's current event id. */
export function greetingAt(place: EventId, retryMs: number): Buffer {
  return Buffer.from(`retry: ${retryMs}\nid: ${formatEventId(place)}\n\n`);
}
