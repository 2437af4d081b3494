import { listingEvents } from "./stream-shapes.ts";

type Topic = {
  /** Of the join that asked for it. */
  joinRef: string;
  state: "asked" | "joined" | "refused";
  /** The heartbeat before which it was asked for. */
  beat: number;
};

const askedAtOnce = 20;
const topicOf = (slug: string) => `collection:${slug}`;

/**
 * The topics of one connection: as many joins as are answered, one topic for each slug. `send` takes what a message
 * holds, and returns its reference.
 */
export function createStreamTopics(
  send: (topic: string, event: string, payload: object, joinRef?: string) => string,
) {
  const topics = new Map<string, Topic>();
  let wanted: ReadonlySet<string> = new Set();
  let beat = 0;

  function join(): void {
    let asked = [...topics.values()].filter(({ state }) => state === "asked").length;
    for (const slug of wanted) {
      if (asked >= askedAtOnce) return;
      if (topics.has(slug)) continue;
      const joinRef = send(topicOf(slug), "phx_join", { event_types: listingEvents });
      topics.set(slug, { joinRef, state: "asked", beat });
      asked += 1;
    }
  }

  function slugOf(topic: string, joinRef: string | null): string | null {
    const slug = topic.slice(topicOf("").length);
    const known = topics.get(slug);
    const isOurs = known !== undefined && (joinRef === null || joinRef === known.joinRef);
    return isOurs && topic === topicOf(slug) ? slug : null;
  }

  return {
    /** Exactly these from here on. */
    watch(slugs: ReadonlySet<string>): void {
      wanted = slugs;
      for (const [slug, { joinRef }] of topics) {
        if (wanted.has(slug)) continue;
        topics.delete(slug);
        send(topicOf(slug), "phx_leave", {}, joinRef);
      }
      join();
    },
    /** An answer to a join; others are nobody's. The slug, if it is refused. */
    answer(ref: string, isOk: boolean): string | null {
      const [slug, topic] = [...topics].find(([, { joinRef }]) => joinRef === ref) ?? [];
      if (slug === undefined || topic === undefined) return null;
      topic.state = isOk ? "joined" : "refused";
      join();
      return isOk ? null : slug;
    },
    slugOf,
    /** The other side ended it: it is asked for anew when it is watched next. */
    end(slug: string): void {
      topics.delete(slug);
    },
    /** With each heartbeat: joins that were not answered since the one before are made anew. */
    beat(): void {
      for (const [slug, topic] of topics)
        if (topic.state === "asked" && topic.beat < beat) topics.delete(slug);
      beat += 1;
      join();
    },
  };
}
