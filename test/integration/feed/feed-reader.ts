import { type ClientRequest, get, type IncomingMessage } from "node:http";

type Heard = { id: string; event: string; data: string };

/** A reader of a stream as a browser is one: it knows its last id, and comes back with it. */
export type StreamReader = {
  /** Events in the order in which they came. */
  readonly heard: Heard[];
  readonly lastId: string;
  readonly heartbeats: number;
  readonly connections: number;
  /** Begins, or comes back; settles with the answer's head. */
  connect(): Promise<IncomingMessage>;
  /** Settles when so many events were heard, now or later. */
  until(isEnough: (reader: StreamReader) => boolean): Promise<void>;
  /** Loses its connection. */
  breakOff(): void;
  /** Loses it, and does not come back. */
  leave(): void;
};

type Options = {
  url: () => string;
  headers?: Record<string, string>;
  from?: string;
  /** Comes back whenever the stream ends, after so many milliseconds. */
  returnsAfterMs?: number;
  onHeard?: (heard: Heard) => void;
};

export function openReader(options: Options): StreamReader {
  const heard: Heard[] = [];
  const waiting = new Set<() => void>();
  let [lastId, text, heartbeats, connections] = [options.from ?? "", "", 0, 0];
  let request: ClientRequest | undefined;
  let hasLeft = false;

  const read = (block: string) => {
    const fields = new Map(block.split("\n").map((line) => split(line)));
    if (fields.has("")) heartbeats += 1;
    const id = fields.get("id");
    if (id !== undefined) lastId = id;
    const data = fields.get("data");
    if (data === undefined || id === undefined) return;
    const one = { id, event: fields.get("event") ?? "message", data };
    heard.push(one);
    options.onHeard?.(one);
  };
  const receive = (chunk: string) => {
    text += chunk;
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) read(block);
    for (const look of waiting) look();
  };
  const comeBack = () => {
    if (hasLeft || options.returnsAfterMs === undefined) return;
    setTimeout(() => void reader.connect().catch(() => undefined), options.returnsAfterMs);
  };
  const reader: StreamReader = {
    heard,
    get lastId() {
      return lastId;
    },
    get heartbeats() {
      return heartbeats;
    },
    get connections() {
      return connections;
    },
    connect: () =>
      new Promise((resolve, reject) => {
        if (hasLeft) return;
        text = "";
        const headers = { ...options.headers, ...(lastId !== "" && { "last-event-id": lastId }) };
        request = get(options.url(), { headers, agent: false }, (response) => {
          connections += 1;
          response
            .setEncoding("utf8")
            .on("data", receive)
            .on("error", () => undefined);
          response.once("close", comeBack);
          resolve(response);
        });
        request.once("error", (error) => {
          comeBack();
          reject(error);
        });
      }),
    until: (isEnough) =>
      new Promise((resolve) => {
        const look = () => {
          if (!isEnough(reader)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    breakOff: () => void request?.destroy(),
    leave() {
      hasLeft = true;
      request?.destroy();
    },
  };
  return reader;
}

function split(line: string): [string, string] {
  const at = line.indexOf(":");
  return [line.slice(0, at), line.slice(at + 1).trimStart()];
}
