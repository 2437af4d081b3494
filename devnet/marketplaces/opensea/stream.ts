import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { isAddressEqual } from "viem";
import { z } from "zod";
import type { ListingChange, StoredListing } from "../listing-store.ts";
import { stringifyBare } from "../seaport-shapes.ts";
import type { StandInCollection } from "../stand-in-collections.ts";
import type { StandInServer } from "../stand-in-server.ts";
import { acceptWebSocket, type ServedSocket } from "../web-socket.ts";
import { eventNames, garbageOf, presentEvent } from "./events.ts";

const ref = z.string().nullable();
const Message = z.tuple([ref, ref, z.string(), z.string(), z.unknown()]);
type Message = z.output<typeof Message>;
const Join = z.object({ event_types: z.array(z.string()).optional() });

type Book = { collections: readonly StandInCollection[] };
type Joined = { joinRef: string | null; events: readonly string[] | undefined };
type Session = { socket: ServedSocket; topics: Map<string, Joined> };

/**
 * Stands in for OpenSea's Stream API: Phoenix channels at `/socket/websocket`, one topic for each collection. What
 * changes in the book is sent to the clients connected at that time, and to nobody later.
 */
export function openPartnerAStream({ collections }: Book, apiKey?: string) {
  const sessions = new Set<Session>();
  let garbled = 0;
  let upgrades = 0;

  function send(
    shown: StoredListing,
    change: ListingChange,
    fault: StandInServer["faults"]["stream"],
  ): void {
    if (sessions.size === 0 || fault === "losing") return;
    const slug = slugOf(collections, shown);
    if (slug === undefined) return;
    const [topic, event] = [`collection:${slug}`, eventNames[change]];
    const payload = presentEvent(shown, slug, event);
    for (const { socket, joinRef } of listeners(topic, event)) {
      if (fault === "garbage") socket.send(garbageOf(topic, joinRef, garbled++));
      socket.send(stringifyBare([joinRef, null, topic, event, payload]));
    }
  }

  const listeners = (topic: string, event: string) =>
    [...sessions].flatMap(({ socket, topics }) => {
      const joined = topics.get(topic);
      if (joined === undefined || joined.events?.includes(event) === false) return [];
      return [{ socket, joinRef: joined.joinRef }];
    });

  function hear({ socket, topics }: Session, text: string): void {
    const [joinRef, ref, topic, event, payload] = Message.parse(JSON.parse(text));
    if (event === "phx_join") {
      topics.set(topic, { joinRef, events: Join.parse(payload).event_types });
    }
    if (event === "phx_leave") topics.delete(topic);
    const reply: Message = [joinRef, ref, topic, "phx_reply", { status: "ok", response: {} }];
    socket.send(JSON.stringify(reply));
  }

  return {
    accept(request: IncomingMessage, connection: Duplex, server: StandInServer): void {
      const { searchParams } = new URL(request.url ?? "/", "http://localhost");
      const { stream } = server.faults;
      upgrades += 1;
      if (stream === "down") return void connection.destroy();
      if (stream === "refusing" || (apiKey && searchParams.get("token") !== apiKey)) {
        return void connection.end(
          "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        );
      }
      const session: Session = {
        topics: new Map(),
        socket: acceptWebSocket(request, connection, {
          onText: (text) => server.faults.stream !== "mute" && hear(session, text),
          onEnd: () => sessions.delete(session),
        }),
      };
      sessions.add(session);
    },
    send,
    /** What is listened to, once for each connection. */
    topics: (): string[] => [...sessions].flatMap(({ topics }) => [...topics.keys()]),
    upgrades: (): number => upgrades,
    /** Breaks the connections that are open. */
    cut(): void {
      for (const { socket } of sessions) socket.cut();
    },
  };
}

const slugOf = (collections: Book["collections"], shown: StoredListing) =>
  collections.find(
    ({ chainId, contract }) =>
      chainId === shown.chainId && isAddressEqual(contract, shown.contract),
  )?.slug;

export type StandInStream = ReturnType<typeof openPartnerAStream>;
