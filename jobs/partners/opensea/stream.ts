import type { Hex } from "viem";
import { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import { chainCalled } from "#chains/partners.ts";
import { type OpenSocket, openWebSocket } from "#jobs/web-socket.ts";
import { reject } from "#projections/domain/rejection.ts";
import { bytes32 } from "../order-schema.ts";
import type { PartnerStream, SkippedEntry, StreamedOrder, StreamListener } from "../partner.ts";
import { firstIssue } from "../send-request.ts";

export type StreamOptions = {
  /** Full websocket URL without the key. */
  url: string;
  key: string | null;
  /** Heartbeat interval; a heartbeat unanswered until the next one closes the connection. */
  heartbeatMs?: number;
};

/** Required by OpenSea. */
const defaultHeartbeatMs = 30_000;

/** One connection to OpenSea's Stream API. */
export async function openStream(
  { url, key, heartbeatMs = defaultHeartbeatMs }: StreamOptions,
  listener: StreamListener,
): ReturnType<PartnerStream["connect"]> {
  let channels: ReturnType<typeof createStreamChannels> | null = null;
  let settle = () => {};
  const ended = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const socket = await openWebSocket(addressOf(url, key), {
    onText: (text) => channels?.read(text),
    onEnd: settle,
  });
  if (!("send" in socket)) return refusalOf(socket.status);
  const opened = createStreamChannels(listener, socket);
  channels = opened;
  const timer = setInterval(() => {
    if (!opened.sendHeartbeat()) socket.close();
  }, heartbeatMs);
  void ended.then(() => clearInterval(timer));
  return { watch: opened.watch, ended, close: socket.close };
}

function addressOf(url: string, key: string | null): string {
  const address = new URL(url);
  if (key !== null) address.searchParams.set("token", key);
  address.searchParams.set("vsn", "2.0.0");
  return address.href;
}

function refusalOf(status: number | null): Awaited<ReturnType<PartnerStream["connect"]>> {
  if (status === 401 || status === 403) {
    return reject("key_refused", `OpenSea's stream refused the key: HTTP ${status}`);
  }
  const reason = status === null ? "no connection" : `HTTP ${status}`;
  return reject("upstream_error", `OpenSea's stream did not answer: ${reason}`);
}

/** Messages of OpenSea's Stream API: Phoenix channels, message format version 2. */

const ref = z.string().nullable();

/** A message, sent or received. */
export const StreamMessage = z.tuple([
  ref.describe("join reference"),
  ref.describe("message reference"),
  z.string().describe("topic"),
  z.string().describe("event"),
  z.unknown(),
]);

/** `phx_reply`. */
const StreamReply = z.object({ status: z.string() });

/** Events about listings. Sales come from the chain. */
const listingEvents = [
  "item_listed",
  "item_cancelled",
  "order_invalidate",
  "order_revalidate",
] as const;

const chain = z
  .union([z.string(), z.object({ name: z.string() }).transform(({ name }) => name)])
  .nullish();

/** The chain is stated next to the item, inside it, or both. */
const ListingEvent = z.object({
  payload: z.object({
    order_hash: bytes32,
    chain,
    item: z.object({ chain }).nullish(),
  }),
});

/** The order of an event; null: it is on an unsupported chain. */
export function parseStreamEvent(
  event: string,
  payload: unknown,
): StreamedOrder | SkippedEntry | null {
  const parsed = ListingEvent.safeParse(payload);
  if (!parsed.success) return malformed(`${event}.${firstIssue(parsed.error).path}`);
  const { order_hash: orderHash, chain: outerChain, item } = parsed.data.payload;
  const name = outerChain ?? item?.chain;
  if (name === undefined || name === null) return malformed(`${event}.payload.chain`);
  const chainId = chainCalled("opensea", name);
  return chainId === undefined ? null : toStreamedOrder(event, chainId, orderHash);
}

const toStreamedOrder = (event: string, chainId: ChainId, orderHash: Hex): StreamedOrder => ({
  chainId,
  orderHash,
  isNew: event === "item_listed",
});

const malformed = (path: string): SkippedEntry => ({
  reason: "stream_malformed",
  path,
  concerns: "none",
});

const listingEventNames = new Set<string>(listingEvents);
const closeEvents = new Set(["phx_error", "phx_close"]);

/** The Phoenix channels of one open connection. */
function createStreamChannels(listener: StreamListener, socket: Pick<OpenSocket, "send">) {
  let messages = 0;
  let pendingHeartbeat: string | null = null;

  function send(topic: string, event: string, payload: object, joinRef?: string): string {
    messages += 1;
    const ref = `${messages}`;
    const join = event === "phx_join" ? ref : (joinRef ?? null);
    socket.send(JSON.stringify([join, ref, topic, event, payload]));
    return ref;
  }

  const topics = createStreamTopics(send);

  function handleReply(ref: string | null, payload: unknown): void {
    if (ref === null) return;
    if (ref === pendingHeartbeat) {
      pendingHeartbeat = null;
      return;
    }
    const isOk = StreamReply.safeParse(payload).data?.status === "ok";
    const refused = topics.handleReply(ref, isOk);
    if (refused !== null) {
      listener.onSkipped({ reason: "stream_refused", path: refused, concerns: "none" });
    }
  }

  function handleEvent(slug: string, event: string, payload: unknown): void {
    const parsed = parseStreamEvent(event, payload);
    if (parsed === null) return;
    if ("reason" in parsed) listener.onSkipped(parsed);
    else listener.onOrder(slug, parsed);
  }

  function read(text: string): void {
    const message = StreamMessage.safeParse(parseJsonOrNull(text));
    if (!message.success) {
      listener.onSkipped(malformed("message"));
      return;
    }
    const [joinRef, ref, topic, event, payload] = message.data;
    const slug = topics.slugOf(topic, joinRef);
    if (event === "phx_reply") handleReply(ref, payload);
    else if (slug !== null && listingEventNames.has(event)) handleEvent(slug, event, payload);
    else if (slug !== null && closeEvents.has(event)) {
      topics.end(slug);
      listener.onMissed(slug);
    }
  }

  return {
    watch: topics.watch,
    read,
    /** Sends a heartbeat. False: the previous one was not answered. */
    sendHeartbeat(): boolean {
      if (pendingHeartbeat !== null) return false;
      topics.onHeartbeat();
      pendingHeartbeat = send("phoenix", "heartbeat", {});
      return true;
    },
  };
}

function parseJsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

type Topic = {
  /** Reference of its join message. */
  joinRef: string;
  state: "joining" | "joined" | "refused";
  /** Number of heartbeats before the join. */
  heartbeats: number;
};

const maxConcurrentJoins = 20;
const topicOf = (slug: string) => `collection:${slug}`;

/**
 * The topics of one connection, one for each slug, joined at most 20 at a time. `send` sends a message and returns its
 * reference.
 */
function createStreamTopics(
  send: (topic: string, event: string, payload: object, joinRef?: string) => string,
) {
  const topics = new Map<string, Topic>();
  let watched: ReadonlySet<string> = new Set();
  let heartbeats = 0;

  function join(): void {
    let joining = [...topics.values()].filter(({ state }) => state === "joining").length;
    for (const slug of watched) {
      if (joining >= maxConcurrentJoins) return;
      if (topics.has(slug)) continue;
      const joinRef = send(topicOf(slug), "phx_join", { event_types: listingEvents });
      topics.set(slug, { joinRef, state: "joining", heartbeats });
      joining += 1;
    }
  }

  function slugOf(topic: string, joinRef: string | null): string | null {
    const slug = topic.slice(topicOf("").length);
    const known = topics.get(slug);
    const isOurs = known !== undefined && (joinRef === null || joinRef === known.joinRef);
    return isOurs && topic === topicOf(slug) ? slug : null;
  }

  return {
    /** Replaces the set of watched slugs. */
    watch(slugs: ReadonlySet<string>): void {
      watched = slugs;
      for (const [slug, { joinRef }] of topics) {
        if (watched.has(slug)) continue;
        topics.delete(slug);
        send(topicOf(slug), "phx_leave", {}, joinRef);
      }
      join();
    },
    /** Handles the reply to a join. Returns the slug if it was refused. */
    handleReply(ref: string, isOk: boolean): string | null {
      const [slug, topic] = [...topics].find(([, { joinRef }]) => joinRef === ref) ?? [];
      if (slug === undefined || topic === undefined) return null;
      topic.state = isOk ? "joined" : "refused";
      join();
      return isOk ? null : slug;
    },
    slugOf,
    /** The server closed the topic: the next `watch` joins it again. */
    end(slug: string): void {
      topics.delete(slug);
    },
    /** Called with each heartbeat: repeats joins unanswered since the previous one. */
    onHeartbeat(): void {
      for (const [slug, topic] of topics)
        if (topic.state === "joining" && topic.heartbeats < heartbeats) topics.delete(slug);
      heartbeats += 1;
      join();
    },
  };
}
