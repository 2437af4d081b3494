import { createHash } from "node:crypto";
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** A subscriber that reconnects with the id of its last event whenever its connection ends. */
export type FeedReader = {
  /** The id of the last event received. */
  readonly lastEventId: string;
  /** SHA-1 of all events received, in order: equal for subscribers that received the same events. */
  digest(): string;
  readonly connections: number;
  disconnect(): void;
  close(): void;
};

type Options = {
  port: number;
  /** Milliseconds until it reconnects. */
  reconnectMs: number;
  onEvents?: (events: Buffer) => void;
};

const endOfHead = Buffer.from("\r\n\r\n");
const endOfEvent = Buffer.from("\n\n");
const colon = 0x3a;
const connectingAtOnce = 50;

/** Resolves when every subscriber has received its greeting. */
export async function gatherReaders(
  count: number,
  optionsOf: (index: number) => Options,
): Promise<FeedReader[]> {
  const readers: FeedReader[] = [];
  while (readers.length < count) {
    const batchSize = Math.min(connectingAtOnce, count - readers.length);
    const opening = Array.from({ length: batchSize }, (_, index) =>
      openReader(optionsOf(readers.length + index)),
    );
    readers.push(...(await Promise.all(opening)));
  }
  return readers;
}

/** Resolves with the first greeting. */
function openReader({ port, reconnectMs, onEvents }: Options): Promise<FeedReader> {
  const hash = createHash("sha1");
  let lastEventId = "";
  let connections = 0;
  let isClosed = false;
  let socket: Socket | undefined;
  const receive = (events: Buffer) => {
    if (events.length === 0 || events[0] === colon) return;
    hash.update(events);
    lastEventId = lastIdOf(events) ?? lastEventId;
    onEvents?.(events);
  };
  return new Promise((resolve) => {
    const reader: FeedReader = {
      get lastEventId() {
        return lastEventId;
      },
      get connections() {
        return connections;
      },
      digest: () => hash.copy().digest("hex"),
      disconnect: () => void socket?.destroy(),
      close() {
        isClosed = true;
        socket?.destroy();
      },
    };
    const open = () => {
      // HTTP 1.0, so that the body is not chunked.
      const from = lastEventId === "" ? "" : `Last-Event-ID: ${lastEventId}\r\n`;
      socket = connect(port, "127.0.0.1", () => {
        socket?.write(`GET /stream HTTP/1.0\r\nHost: bench\r\n${from}\r\n`);
      });
      const onGreeted = (id: string) => {
        connections += 1;
        if (lastEventId === "") lastEventId = id;
        resolve(reader);
      };
      socket.on("data", splitStream(onGreeted, receive));
      socket.on("error", () => undefined);
      socket.on("close", async () => {
        if (isClosed) return;
        await delay(reconnectMs);
        if (!isClosed) open();
      });
    };
    open();
  });
}

/** Passes on complete events, without head and greeting; an incomplete one is sent again after a reconnect. */
function splitStream(
  onGreeted: (id: string) => void,
  onEvents: (events: Buffer) => void,
): (chunk: Buffer) => void {
  let buffered: Buffer = Buffer.alloc(0);
  const toSkip = [endOfHead, endOfEvent];
  const isGreeted = () => {
    for (const mark of [...toSkip]) {
      const end = buffered.indexOf(mark);
      if (end === -1) return false;
      if (mark === endOfEvent) onGreeted(lastIdOf(buffered.subarray(0, end + 1)) ?? "");
      buffered = buffered.subarray(end + mark.length);
      toSkip.shift();
    }
    return true;
  };
  return (chunk) => {
    buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk]);
    if (!isGreeted()) return;
    const end = buffered.lastIndexOf(endOfEvent);
    if (end === -1) return;
    onEvents(buffered.subarray(0, end + endOfEvent.length));
    buffered = buffered.subarray(end + endOfEvent.length);
  };
}

function lastIdOf(text: Buffer): string | undefined {
  const start = text.lastIndexOf("id: ");
  if (start === -1) return undefined;
  return text.toString("latin1", start + 4, text.indexOf("\n", start));
}
