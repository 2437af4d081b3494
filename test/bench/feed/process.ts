import { argv } from "node:process";
import compression from "compression";
import express from "express";
import { pino } from "pino";
import { answerFeed } from "#api/feed/answer-feed.ts";
import { frameSnakeCase } from "#api/feed/event.ts";
import { openFeed } from "#api/feed/open-feed.ts";
import { measureRequests, openMetrics } from "#api/http/metrics.ts";
import { servePath } from "#api/http/mount.ts";
import { listen } from "#api/http/server.ts";
import { openListener } from "#jobs/runner/signals.ts";
import { openDatabase } from "#projections/log/database.ts";

/** What the process reports on request: memory in bytes, processor time in milliseconds. */
export type ProcessFigures = { rss: number; cpuMs: number; readers: number; cut: number };

const [, , url = "", requestedPort = "0"] = argv;
const logger = pino({ level: "warn" });
const db = openDatabase({ url, applicationName: "feed", max: 10, onIdleError: () => {} });
const source = {
  db,
  chainIds: [33139],
  feeRecipient: "0x00000000000000000000000000000000000fee00",
} as const;
const feed = openFeed({ source, frame: frameSnakeCase, logger });
openListener({ url, channels: ["projected"], logger, onNotify: () => feed.notify() });
const app = express();
app.use(measureRequests(openMetrics()), compression());
servePath(app, "/stream", { get: [answerFeed(feed)] });
const { port } = await listen(app, "127.0.0.1", Number(requestedPort));
process.send?.({ port });
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  const { rss } = process.memoryUsage();
  process.send?.({ rss, cpuMs: (user + system) / 1_000, ...feed.figures() });
});
process.on("disconnect", () => process.exit(0));
