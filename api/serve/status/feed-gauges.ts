import { Counter, Gauge, type Registry } from "prom-client";
import type { Feed } from "../feed/open-feed.ts";

/** Metrics of this process's live feed. */
export function gaugeFeed(registry: Registry, { figures }: Pick<Feed, "figures">): void {
  new Gauge({
    name: "feed_readers",
    help: "Open streams of the live feed",
    registers: [registry],
    collect() {
      this.set(figures().readers);
    },
  });
  new Counter({
    name: "feed_readers_cut_total",
    help: "Streams closed because their client was too slow",
    registers: [registry],
    collect() {
      this.reset();
      this.inc(figures().cut);
    },
  });
}
