import { connect, type Socket } from "node:net";

/** Readers of one stream. Every few of them keep what they hear, the others count bytes. */
export type FeedCrowd = {
  /** Of readers that listen closely: the ids, in the order in which they came. */
  readonly heard: readonly (readonly string[])[];
  /** Milliseconds from an event's commit to its arrival, of readers that listen closely. */
  readonly delaysMs: readonly number[];
  /** Bytes of events that each reader got. */
  readonly bytes: readonly number[];
  readonly lost: number;
  leave(): void;
};

const greeting = Buffer.from("-0\n\n");
const connectingAtOnce = 50;

/** Settles when all of them are greeted. `sentAt` tells when the event of a token was committed. */
export async function gatherReaders(
  port: number,
  { readers, everyCloselyth }: { readers: number; everyCloselyth: number },
  sentAt: (tokenId: string) => number | undefined,
): Promise<FeedCrowd> {
  const sockets: Socket[] = [];
  const heard: string[][] = [];
  const delaysMs: number[] = [];
  const bytes: number[] = [];
  let lost = 0;
  const listenClosely = () => {
    const ids: string[] = [];
    heard.push(ids);
    return followEvents(({ id, tokenId }, now) => {
      ids.push(id);
      const at = sentAt(tokenId);
      if (at !== undefined) delaysMs.push(now - at);
    });
  };
  const begin = (index: number) =>
    new Promise<void>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => {
        socket.write("GET /stream HTTP/1.1\r\nHost: bench\r\n\r\n");
      });
      const hear = index % everyCloselyth === 0 ? listenClosely() : undefined;
      let isGreeted = false;
      bytes[index] = 0;
      socket.on("data", (chunk: Buffer) => {
        if (isGreeted) {
          bytes[index] = (bytes[index] ?? 0) + chunk.length;
          hear?.(chunk);
        } else if (chunk.includes(greeting)) {
          isGreeted = true;
          resolve();
        }
      });
      socket.on("error", () => undefined);
      socket.on("close", () => {
        lost += 1;
      });
      sockets.push(socket);
    });
  for (let first = 0; first < readers; first += connectingAtOnce) {
    const last = Math.min(readers, first + connectingAtOnce);
    await Promise.all(Array.from({ length: last - first }, (_, index) => begin(first + index)));
  }
  return {
    heard,
    delaysMs,
    bytes,
    get lost() {
      return lost;
    },
    leave() {
      for (const socket of sockets) socket.removeAllListeners("close").destroy();
    },
  };
}

type Told = { id: string; tokenId: string };

function followEvents(onEvent: (told: Told, now: number) => void): (chunk: Buffer) => void {
  let rest = "";
  return (chunk) => {
    const now = performance.now();
    const lines = (rest + chunk.toString("latin1")).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const [, id, tokenId] = /^data: {"id":"([\d-]+)".*"token_id":"(\d+)"/.exec(line) ?? [];
      if (id !== undefined && tokenId !== undefined) onEvent({ id, tokenId }, now);
    }
  };
}
