import { once } from "node:events";
import type { Response } from "express";

/** The connection to one subscriber. */
export type SseConnection = {
  write(bytes: Buffer): void;
  /** Bytes written but not accepted by the socket. */
  readonly unsentBytes: number;
  /** Settles when the write buffer is empty, or the connection is closed. */
  drained(): Promise<void>;
  readonly isClosed: boolean;
  onClose(heard: () => void): void;
  /** Ends the stream in order: the client reconnects with its last event id. */
  end(): void;
  /** Closes the socket and discards unsent bytes. */
  destroy(): void;
};

export function sseConnection(response: Response): SseConnection {
  // A broken connection also emits `close`.
  response.on("error", () => {});
  return {
    write: (bytes) => void response.write(bytes),
    get unsentBytes() {
      return response.writableLength;
    },
    async drained() {
      const over = new AbortController();
      const { signal } = over;
      const settled = [once(response, "drain", { signal }), once(response, "close", { signal })];
      if (response.writableNeedDrain && !response.closed) await Promise.race(settled);
      for (const one of settled) one.catch(() => undefined);
      over.abort();
    },
    get isClosed() {
      return response.destroyed || response.writableEnded;
    },
    onClose: (heard) => void response.once("close", heard),
    end: () => void response.end(),
    destroy: () => void response.destroy(),
  };
}
