import type { StreamListener } from "../partner.ts";
import type { OpenSocket } from "#jobs/web-socket.ts";
import { listingEvents, malformed, parseStreamEvent, StreamMessage, StreamReply } from "./stream-messages.ts";
import { createStreamTopics } from "./stream-topics.ts";

const listingEventNames = new Set<string>(listingEvents);
const closeEvents = new Set(["phx_error", "phx_close"]);

/** The Phoenix channels of one open connection. */
export function createStreamChannels(listener: StreamListener, socket: Pick<OpenSocket, "send">) {
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
