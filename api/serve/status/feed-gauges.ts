import { Counter, Gauge, type Registry } from "prom-client";
import type { Feed } from "../feed/open-feed.ts";

/** Readers of this process's live feed. */
export function gaugeFeed(registry: Registry, { figures }: Pick<Feed, "figures">): void {
  new Gauge({
    name: "feed_readers",
    help: "Streams of the live feed that are open",
    registers: [registry],
    collect() {
      this.set(figures().readers);
    },
  });
  new Counter({
    name: "feed_readers_cut_total",
    help: "Streams that were ended because their reader was too slow",
    registers: [registry],
    collect() {
      this.reset();
      this.inc(figures().cut);
    },
  });
}
