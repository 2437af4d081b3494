import type { Ear } from "../partner.ts";
import type { OpenSocket } from "../web-socket.ts";
import {
  listingEvents,
  readStreamEvent,
  StreamMessage,
  StreamReply,
  unreadable,
} from "./stream-shapes.ts";
import { createStreamTopics } from "./stream-topics.ts";

const ofListings = new Set<string>(listingEvents);
const endings = new Set(["phx_error", "phx_close"]);

/** What is said over one connection, from when it is open. */
export function createStreamChannels(ear: Ear, socket: Pick<OpenSocket, "send">) {
  let messages = 0;
  let unanswered: string | null = null;

  function send(topic: string, event: string, payload: object, joinRef?: string): string {
    messages += 1;
    const ref = `${messages}`;
    const join = event === "phx_join" ? ref : (joinRef ?? null);
    socket.send(JSON.stringify([join, ref, topic, event, payload]));
    return ref;
  }

  const topics = createStreamTopics(send);

  function answer(ref: string | null, payload: unknown): void {
    if (ref === null) return;
    if (ref === unanswered) {
      unanswered = null;
      return;
    }
    const isOk = StreamReply.safeParse(payload).data?.status === "ok";
    const refused = topics.answer(ref, isOk);
    if (refused !== null) {
      ear.onSkipped({ reason: "stream_refused", path: refused, standsFor: "none" });
    }
  }

  function tell(slug: string, event: string, payload: unknown): void {
    const told = readStreamEvent(event, payload);
    if (told === null) return;
    if ("reason" in told) ear.onSkipped(told);
    else ear.onHeard(slug, told);
  }

  function read(text: string): void {
    const message = StreamMessage.safeParse(parseLoosely(text));
    if (!message.success) {
      ear.onSkipped(unreadable("message"));
      return;
    }
    const [joinRef, ref, topic, event, payload] = message.data;
    const slug = topics.slugOf(topic, joinRef);
    if (event === "phx_reply") answer(ref, payload);
    else if (slug !== null && ofListings.has(event)) tell(slug, event, payload);
    else if (slug !== null && endings.has(event)) {
      topics.end(slug);
      ear.onMissed(slug);
    }
  }

  return {
    watch: topics.watch,
    read,
    /** Due at regular times. False: the heartbeat before was not answered. */
    beat(): boolean {
      if (unanswered !== null) return false;
      topics.beat();
      unanswered = send("phoenix", "heartbeat", {});
      return true;
    },
  };
}

function parseLoosely(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
