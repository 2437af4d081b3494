import compression from "compression";
import express from "express";
import { sql } from "kysely";
import { pino } from "pino";
import { createApp } from "#api/app.ts";
import { answerFeed } from "#api/feed/answer-feed.ts";
import { frameSnakeCase } from "#api/feed/event.ts";
import { type Feed, openFeed } from "#api/feed/open-feed.ts";
import type { FeedOf } from "#api/feed/start-feed.ts";
import type { FeedLimits } from "#api/feed/subscribers.ts";
import { measureRequests, openMetrics } from "#api/http/metrics.ts";
import { servePath } from "#api/http/mount.ts";
import { parseQuery } from "#api/http/query.ts";
import type { ServiceStatus } from "#api/status/service-status.ts";
import { appendObservations } from "#projections/log/append.ts";
import type { Database } from "#projections/log/database.ts";
import { schemaOf } from "#projections/log/versions.ts";
import type { Step } from "#test/simulation/script.ts";
import {
  addressOf,
  appendEvents,
  block,
  type ChainEvent,
  setBlocks,
} from "#test/support/database/given.ts";
import { type ApiClient, serve } from "#test/support/http/openapi.ts";
import { openTestMarket, testFee } from "#test/support/orders/test-market.ts";

export const logger = pino({ level: "silent" });

const idle: ServiceStatus = {
  ready: true,
  failing: [],
  warnings: [],
  logPosition: 0,
  chains: [],
  projections: [],
};

export type FeedServer = ApiClient & { feed: Feed; stream(query?: string): string };

/** A process that serves the feed of chain 33139 at `/stream`, behind what every answer passes, and the endpoints. */
export async function serveFeed(
  db: Database,
  limits: Partial<FeedLimits> = {},
): Promise<FeedServer> {
  const source = { db, chainIds: [33139], feeRecipient: testFee.recipient };
  const feed = openFeed({ source, frame: frameSnakeCase, logger, limits });
  const app = express();
  app.set("query parser", parseQuery);
  app.use(measureRequests(openMetrics()), compression());
  servePath(app, "/stream", { get: [answerFeed(feed)] });
  const context = contextOver(db);
  const ofV1 = {
    latest: openFeed({ source, logger, limits }),
    final: openFeed({ source: { ...source, delivery: "final" }, logger, limits }),
  };
  const feedOf: FeedOf = (chainId, delivery) => (chainId === 33139 ? ofV1[delivery] : undefined);
  app.use(createApp({ context, baseUrl, logger, feedOf }));
  const api = await serve(app);
  return {
    ...api,
    feed,
    stream: (query = "") => `${api.url}/stream${query}`,
    async close() {
      await Promise.all([feed, ...Object.values(ofV1)].map((one) => one.stop()));
      await api.close();
    },
  };
}

export const baseUrl = "https://api.example.test";

/** What the endpoints work with. */
export function contextOver(db: Database) {
  return {
    db,
    siteUrl: "https://site.example.test",
    chains: [1, 33139] as const,
    readStatus: async () => idle,
    market: openTestMarket(db),
    now: () => new Date(),
  };
}

const toldBy = [...["ownership", "sales", "activity", "listings", "bids"], "metadata"];

/** Checkpoints as projections that fold nothing would have them. */
export async function makeCheckpoints(db: Database): Promise<void> {
  await sql`
    insert into engine.checkpoint (projection, version, parameters, position)
    select name, 1, '', 0 from unnest(${toldBy.map(schemaOf)}::text[]) name on conflict do nothing`.execute(
    db,
  );
}

/** The projections have come to the log's end. */
export async function catchUp(db: Database): Promise<void> {
  await sql`update engine.checkpoint set position = (select position from log.head)`.execute(db);
}

/** One call of the log of a history. */
export async function carryOut(db: Database, step: Step): Promise<void> {
  if (step.does === "append") await appendEvents(db, step.events);
  else if (step.does === "observe") await appendObservations(db, step.observations);
  else await setBlocks(db, step.does, step.blocks);
}

let blocks = 0;

/** A block with so many transfers of a few collections between a few wallets. */
export function transfers(count: number, chainId = 33139): ChainEvent[] {
  blocks += 1;
  const at = block(chainId, blocks);
  return Array.from({ length: count }, (_, index) => ({
    kind: "erc721_transfer",
    block: at,
    logIndex: index,
    contract: addressOf(index % 3),
    tokenId: BigInt(index),
    from: addressOf(10 + (index % 5)),
    to: addressOf(10 + ((index + blocks) % 5)),
  }));
}

/** Appends a block of transfers, and the projections follow. */
export async function transferred(db: Database, count: number): Promise<void> {
  await appendEvents(db, transfers(count));
  await catchUp(db);
}
