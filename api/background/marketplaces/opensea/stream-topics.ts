import { listingEvents } from "./stream-messages.ts";

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
export function createStreamTopics(
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
