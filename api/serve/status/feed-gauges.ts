import { Counter, Gauge, type Registry } from "prom-client";
import type { TokenStreams } from "../accounts/token-streams.ts";
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

/** Metrics of the streams of accounts in this process. */
export function gaugeTokenStreams(
  registry: Registry,
  { figures }: Pick<TokenStreams, "figures">,
): void {
  const registers = [registry];
  new Gauge({
    name: "account_streams_open",
    help: "Open streams of bearer tokens",
    registers,
    collect() {
      this.set(figures().open);
    },
  });
  new Counter({
    name: "account_streams_refused_total",
    help: "Streams refused because their account had as many as it may",
    registers,
    collect() {
      this.reset();
      this.inc(figures().refused);
    },
  });
  new Counter({
    name: "account_streams_ended_total",
    help: "Streams ended because their token was no longer valid",
    registers,
    collect() {
      this.reset();
      this.inc(figures().ended);
    },
  });
}
