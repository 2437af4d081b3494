import { createHash } from "node:crypto";
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** One reader of a stream, which comes back behind the last event it got whenever its connection ends. */
export type FeedReader = {
  /** The id of the last event it got. */
  readonly place: string;
  /** SHA-1 of all events it got, in their order: equal where two got the same, each once. */
  digest(): string;
  readonly connections: number;
  breakOff(): void;
  leave(): void;
};

type Options = {
  port: number;
  /** How long it stays away, in milliseconds. */
  awayMs: number;
  onEvents?: (events: Buffer) => void;
};

const endOfHead = Buffer.from("\r\n\r\n");
const endOfEvent = Buffer.from("\n\n");
const colon = 0x3a;
const connectingAtOnce = 50;

/** All of them are greeted when it settles. */
export async function gatherReaders(
  count: number,
  optionsOf: (index: number) => Options,
): Promise<FeedReader[]> {
  const readers: FeedReader[] = [];
  while (readers.length < count) {
    const room = Math.min(connectingAtOnce, count - readers.length);
    const coming = Array.from({ length: room }, (_, index) =>
      openReader(optionsOf(readers.length + index)),
    );
    readers.push(...(await Promise.all(coming)));
  }
  return readers;
}

/** Settles with the first greeting. */
function openReader({ port, awayMs, onEvents }: Options): Promise<FeedReader> {
  const hash = createHash("sha1");
  let place = "";
  let connections = 0;
  let hasLeft = false;
  let socket: Socket | undefined;
  const take = (events: Buffer) => {
    if (events.length === 0 || events[0] === colon) return;
    hash.update(events);
    place = lastIdOf(events) ?? place;
    onEvents?.(events);
  };
  return new Promise((resolve) => {
    const reader: FeedReader = {
      get place() {
        return place;
      },
      get connections() {
        return connections;
      },
      digest: () => hash.copy().digest("hex"),
      breakOff: () => void socket?.destroy(),
      leave() {
        hasLeft = true;
        socket?.destroy();
      },
    };
    const open = () => {
      // Of HTTP 1.0, so that the answer comes as it is written and not in chunks with lengths between.
      const from = place === "" ? "" : `Last-Event-ID: ${place}\r\n`;
      socket = connect(port, "127.0.0.1", () => {
        socket?.write(`GET /stream HTTP/1.0\r\nHost: bench\r\n${from}\r\n`);
      });
      const onGreeted = (id: string) => {
        connections += 1;
        if (place === "") place = id;
        resolve(reader);
      };
      socket.on("data", splitStream(onGreeted, take));
      socket.on("error", () => undefined);
      socket.on("close", async () => {
        if (hasLeft) return;
        await delay(awayMs);
        if (!hasLeft) open();
      });
    };
    open();
  });
}

/** Whole events only, without head and greeting: what an ended connection left incomplete comes again. */
function splitStream(
  onGreeted: (id: string) => void,
  onEvents: (events: Buffer) => void,
): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  const toSkip = [endOfHead, endOfEvent];
  const isGreeted = () => {
    for (const mark of [...toSkip]) {
      const end = rest.indexOf(mark);
      if (end === -1) return false;
      if (mark === endOfEvent) onGreeted(lastIdOf(rest.subarray(0, end + 1)) ?? "");
      rest = rest.subarray(end + mark.length);
      toSkip.shift();
    }
    return true;
  };
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    if (!isGreeted()) return;
    const end = rest.lastIndexOf(endOfEvent);
    if (end === -1) return;
    onEvents(rest.subarray(0, end + endOfEvent.length));
    rest = rest.subarray(end + endOfEvent.length);
  };
}

function lastIdOf(text: Buffer): string | undefined {
  const start = text.lastIndexOf("id: ");
  if (start === -1) return undefined;
  return text.toString("latin1", start + 4, text.indexOf("\n", start));
}
