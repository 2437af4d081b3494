import { type EventId, formatEventId } from "#projections/activity/feed-events.ts";
import type { ReadEvent } from "#projections/activity/read-feed.ts";
import { presentEvent } from "../views/event.ts";

/** An event serialized for the wire, once for all subscribers. */
export type Framed = { readonly event: ReadEvent; readonly bytes: Buffer };

/** Serializes an event as the subscribers of one API expect it. */
export type FrameEvent = (event: ReadEvent) => Framed;

/** A server-sent event with the names of `/v1`. */
export const frameEvent: FrameEvent = (event) => {
  const presented = presentEvent(event, new Date());
  return frame(event, presented, presented);
};

/** The same with the account API's snake_case names. */
export const frameSnakeCase: FrameEvent = (event) => {
  const presented = presentEvent(event, new Date());
  const entries = Object.entries(presented).map(([name, value]) => [snakeCase(name), value]);
  return frame(event, presented, Object.fromEntries(entries));
};

/** JSON contains no line breaks. */
function frame(event: ReadEvent, { id, type }: { id: string; type: string }, data: object): Framed {
  const text = `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
  return { event, bytes: Buffer.from(text) };
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
