import { Counter, Gauge, type Registry } from "prom-client";
import type { CallerStreams } from "#api/accounts/caller-streams.ts";
import type { Feed } from "#api/feed/open-feed.ts";

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

/** Metrics of the streams of callers in this process. */
export function gaugeCallerStreams(
  registry: Registry,
  { figures }: Pick<CallerStreams, "figures">,
): void {
  const registers = [registry];
  new Gauge({
    name: "caller_streams_open",
    help: "Open streams, counted for accounts and addresses",
    registers,
    collect() {
      this.set(figures().open);
    },
  });
  new Counter({
    name: "caller_streams_refused_total",
    help: "Streams refused because their account or address had as many as it may",
    registers,
    collect() {
      this.reset();
      this.inc(figures().refused);
    },
  });
  new Counter({
    name: "caller_streams_ended_total",
    help: "Streams ended because their token or key was no longer valid",
    registers,
    collect() {
      this.reset();
      this.inc(figures().ended);
    },
  });
}
