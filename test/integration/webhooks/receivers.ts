import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** A request as it came. */
export type Delivery = {
  readonly id: string;
  readonly body: string;
  readonly headers: Record<string, string>;
  /** What was answered, or begun to be; null: nothing yet. */
  status: number | null;
};

/** Answers one delivery: with a status, or as it likes. */
export type Behaviour = (
  delivery: Delivery,
  response: ServerResponse,
  socket: Socket,
) => number | null | Promise<number | null>;

/** Whoever receives webhooks, each at a path of its own. */
export type Receivers = {
  readonly origin: string;
  /** All requests to a path, in the order in which they came. */
  at(path: string): Delivery[];
  /** How a path answers; by default with 200. */
  behave(path: string, behaviour: Behaviour): void;
  /** Settles once this is true, now or after a later request. */
  until(isEnough: () => boolean): Promise<void>;
  /** Cuts every connection, and each new one, until it is called with `false`: as a process that was killed. */
  kill(isKilled: boolean): void;
  close(): Promise<void>;
};

export async function openReceivers(): Promise<Receivers> {
  const requests = new Map<string, Delivery[]>();
  const behaviours = new Map<string, Behaviour>();
  const waiting = new Set<() => void>();
  const at = (path: string) => {
    const known = requests.get(path) ?? [];
    requests.set(path, known);
    return known;
  };
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await textOf(request);
    if (body === null) return;
    const path = request.url ?? "";
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const delivery: Delivery = { id: headers["webhook-id"] ?? "", body, headers, status: null };
    at(path).push(delivery);
    const behaviour = behaviours.get(path) ?? (() => 200);
    const status = await behaviour(delivery, response, request.socket);
    if (status !== null) response.writeHead(status).end("{}");
    if (response.headersSent) delivery.status = response.statusCode;
    for (const look of waiting) look();
  };
  const server: Server = createServer((request, response) => {
    response.on("error", () => undefined);
    void take(request, response);
  });
  let isDown = false;
  server.on("connection", (socket) => {
    if (isDown) socket.resetAndDestroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    at,
    behave: (path, behaviour) => void behaviours.set(path, behaviour),
    until: (isEnough) =>
      new Promise((resolve) => {
        const look = () => {
          if (!isEnough()) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    kill(isKilled) {
      isDown = isKilled;
      if (isDown) server.closeAllConnections();
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Null: the sender went away. */
async function textOf(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return null;
  }
  return Buffer.concat(chunks).toString("utf8");
}
