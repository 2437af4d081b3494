import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { isAddressEqual } from "viem";
import { z } from "zod";
import { seaportAddresses } from "#abis/deployments.ts";
import { chainNameAt } from "#chains/partners.ts";
import { type ListingChange, type StoredListing, totalWei } from "../listing-store.ts";
import { stringifyBare, symbolOf } from "../seaport-shapes.ts";
import type { StandInCollection } from "../stand-in-collections.ts";
import type { StandInServer } from "../stand-in-server.ts";
import { presentParameters } from "./shapes.ts";

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

const eventNames: Record<ListingChange, string> = {
  listed: "item_listed",
  filled: "item_sold",
  cancelled: "item_cancelled",
  withdrawn: "order_invalidate",
  restored: "order_revalidate",
};

/** The events of a listing, in the envelope of the stream. Orders that become invalid or valid are sent by hash only. */
function presentEvent(shown: StoredListing, slug: string, event: string) {
  const now = new Date().toISOString();
  const chain = chainNameAt("opensea", shown.chainId);
  const common = {
    collection: { slug },
    event_timestamp: now,
    order_hash: shown.orderHash,
    protocol_address: seaportAddresses["1.6"],
  };
  const isBare = event.startsWith("order_");
  const payload = isBare
    ? { ...common, chain: { name: chain }, item: {} }
    : { ...common, chain, ...itemOf(shown, chain) };
  return { event_type: event, version: 2, sent_at: now, payload };
}

function itemOf(shown: StoredListing, chain: string) {
  const { components } = shown.order;
  const nftId = `${chain}/${shown.contract}/${shown.tokenId}`;
  const iso = (seconds: bigint) => new Date(Number(seconds) * 1_000).toISOString();
  return {
    base_price: `${totalWei(shown.order)}`,
    expiration_date: iso(components.endTime),
    is_private: false,
    item: {
      chain: { name: chain },
      metadata: { animation_url: null, image_url: null, metadata_url: null, name: null },
      nft_id: nftId,
      permalink: `https://opensea.io/assets/${nftId}`,
    },
    listing_date: iso(components.startTime),
    listing_type: null,
    maker: { address: components.offerer },
    payment_token: { decimals: 18, symbol: symbolOf(shown) },
    protocol_data: { parameters: presentParameters(shown), signature: null },
    quantity: Number(shown.quantity),
    taker: null,
  };
}

/** What cannot be read, in one of several ways. */
function garbageOf(topic: string, joinRef: string | null, turn: number): string {
  const ways = [
    "no JSON",
    "{}",
    JSON.stringify([joinRef, null, topic, "item_listed", { payload: { order_hash: "0x12" } }]),
    JSON.stringify([joinRef, null, topic, "item_cancelled", null]),
    JSON.stringify([joinRef, null, 7, "item_listed", {}]),
  ];
  return ways[turn % ways.length] ?? "";
}

const guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const opcode = { text: 1, close: 8, ping: 9, pong: 10 } as const;

type ServedSocket = { send(text: string): void; cut(): void };

/** Takes a websocket in (RFC 6455): text in one frame each, no extensions. `onEnd` comes once. */
function acceptWebSocket(
  request: IncomingMessage,
  socket: Duplex,
  { onText, onEnd }: { onText(text: string): void; onEnd(): void },
): ServedSocket {
  const accept = createHash("sha1")
    .update(`${request.headers["sec-websocket-key"]}${guid}`)
    .digest("base64");
  socket.write(
    [
      "HTTP/1.1 101 Switching Protocols",
      "Upgrade: websocket",
      "Connection: Upgrade",
      `Sec-WebSocket-Accept: ${accept}`,
      "\r\n",
    ].join("\r\n"),
  );
  let unread = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    unread = Buffer.concat([unread, chunk]);
    for (let frame = readFrame(unread); frame !== null; frame = readFrame(unread)) {
      unread = unread.subarray(frame.bytes);
      if (frame.opcode === opcode.text) onText(frame.payload.toString());
      else if (frame.opcode === opcode.ping) socket.write(frameOf(opcode.pong, frame.payload));
      else if (frame.opcode === opcode.close) socket.end(frameOf(opcode.close, frame.payload));
    }
  });
  // Sockets of an HTTP server stay half open.
  socket.on("end", () => socket.end());
  socket.on("error", () => socket.destroy());
  socket.once("close", onEnd);
  return {
    send: (text) => void socket.write(frameOf(opcode.text, Buffer.from(text))),
    cut: () => void socket.destroy(),
  };
}

type Frame = { opcode: number; payload: Buffer; bytes: number };

/** The first frame of a client, whose frames are masked; null: it has not arrived whole. */
function readFrame(bytes: Buffer): Frame | null {
  if (bytes.length < 2) return null;
  const short = bytes.readUInt8(1) & 0x7f;
  const lengthBytes = { 126: 2, 127: 8 }[short] ?? 0;
  const start = 2 + lengthBytes + 4;
  if (bytes.length < start) return null;
  const length = lengthBytes === 0 ? short : Number(`0x${bytes.toString("hex", 2, start - 4)}`);
  if (bytes.length < start + length) return null;
  const mask = bytes.subarray(start - 4, start);
  const masked = bytes.subarray(start, start + length);
  const payload = Buffer.from(masked.map((byte, index) => byte ^ (mask[index % 4] ?? 0)));
  return { opcode: bytes.readUInt8(0) & 0x0f, payload, bytes: start + length };
}

function frameOf(code: number, payload: Buffer): Buffer {
  const { length } = payload;
  if (length < 126) return Buffer.concat([Buffer.from([0x80 | code, length]), payload]);
  const head = Buffer.alloc(length < 65_536 ? 4 : 10);
  head.writeUInt8(0x80 | code, 0);
  head.writeUInt8(head.length === 4 ? 126 : 127, 1);
  if (head.length === 4) head.writeUInt16BE(length, 2);
  else head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}
