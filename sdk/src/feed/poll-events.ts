import { wait } from "../reading/wait.ts";
import type { Transport } from "./transport.ts";

/** Events by pages, and then whatever is new every `pollMs`. */
export const pollEvents: Transport = async function* (source, query, { pollMs, signal }) {
  let after = query.after;
  while (true) {
    const { data, meta } = await source.get(
      "/v1/events",
      { ...query, after, per_page: 100 },
      { signal },
    );
    for (const event of data) yield { event, position: event.id };
    after = meta.next;
    yield { position: meta.next };
    if (!meta.has_more) await wait(pollMs, signal);
  }
};
