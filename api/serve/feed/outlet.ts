import { once } from "node:events";
import type { Response } from "express";

/** The way to one reader. */
export type Outlet = {
  write(bytes: Buffer): void;
  /** Bytes that the reader's connection has not taken. */
  readonly unsent: number;
  /** Settles when it has taken all, or is gone. */
  drained(): Promise<void>;
  readonly isClosed: boolean;
  onClose(heard: () => void): void;
  /** An orderly end: the reader comes back with its last id. */
  end(): void;
  /** For who does not read: what is unsent is thrown away. */
  cut(): void;
};

export function outletOf(response: Response): Outlet {
  // A connection that breaks is told by `close`.
  response.on("error", () => {});
  return {
    write: (bytes) => void response.write(bytes),
    get unsent() {
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
    cut: () => void response.destroy(),
  };
}
