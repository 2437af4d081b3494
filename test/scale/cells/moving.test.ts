import { setTimeout as delay } from "node:timers/promises";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { moveChain } from "../../../api/run/cells/move-chain.ts";
import { readConfig } from "../../../api/run/config/read-config.ts";
import { type ApiCells, openApiCells } from "../../../api/run/roles/api-cells.ts";
import { runRole as runProjector } from "../../../api/run/roles/projector.ts";
import type { RunningRole } from "../../../api/run/roles/role.ts";
import { runInCells } from "../../../api/run/roles/run-in-cells.ts";
import { roleCells } from "../../../api/run/supervisor/run-role.ts";
import { createApp } from "../../../api/serve/app.ts";
import { openResponseCache } from "../../../api/serve/http/response-cache.ts";
import { type Listening, listen } from "../../../api/serve/http/server.ts";
import { routes } from "../../../api/serve/v1/routes.ts";
import { route } from "../../../api/serve/v1/routing/context.ts";
import { bodyChainId } from "../../../api/serve/v1/routing/parameters.ts";
import { appendObservations } from "../../../projections/log/append.ts";
import { addressOf } from "../../support/database/given.ts";
import { pipelineSettings, until } from "../../support/database/pipeline.ts";
import { createDatabase, type TestDatabase } from "../../support/database/postgres.ts";
import { followEvents } from "../../support/http/follow-events.ts";
import { openTwoChains, twoChains } from "../../support/market-data/two-chains.ts";
import { feeRecipient, givenListing, receivedAt } from "../../support/orders/order-facts.ts";

const moved = 33139;
const logger = pino({ level: "silent" });
const ending = new AbortController();
let shared: Awaited<ReturnType<typeof openTwoChains>>;
let own: TestDatabase;
let opened: ApiCells;
let api: Listening;
let projector: RunningRole;

/** Appends a listing: what a POST of an order does behind its checks. */
const postListing = route(
  {
    method: "post",
    path: "/v1/test/listings",
    operationId: "postTestListing",
    tag: "Orders",
    summary: "Appends a listing",
    body: z.strictObject({ chainId: bodyChainId, salt: z.int() }),
    data: z.object({ askId: z.string() }),
    refuses: { bad_structure: 422, unsupported_chain: 422 },
  },
  async ({ body: { chainId, salt } }, { market }) => {
    const { orderHash, submitted } = givenListing({
      ...{ chainId, maker: addressOf(1), contract: addressOf(2), tokenId: BigInt(salt) },
      salt: BigInt(salt),
    });
    const { head } = await appendObservations(market.writer, [submitted]);
    await market.waitUntilProjected(head);
    return { data: { askId: `mkt-${orderHash}` } };
  },
);

beforeAll(async () => {
  [shared, own] = await Promise.all([openTwoChains(3), createDatabase()]);
  for (const chain of twoChains) await shared.step(chain);
  const chains = twoChains.map((chainId) => ({ chainId, rpcUrl: "http://127.0.0.1:1" }));
  const settings = { FEE_RECIPIENT: feeRecipient, [`DATABASE_URL_${moved}`]: own.url };
  const config = readConfig(
    await pipelineSettings({ databaseUrl: shared.book.url, chains, settings }),
  );
  const { signal } = ending;
  const cells = roleCells(config, "api");
  const context = { config: cells[0].config, cells, logger, signal };
  projector = await runInCells({ run: runProjector, context, cells, preparesChains: false });
  opened = await openApiCells({ cells, logger, signal, onWait: () => {} });
  const { main } = opened;
  const now = () => new Date(Number(receivedAt + 60n) * 1_000);
  const app = createApp({
    context: {
      ...{ db: main.opened.db, chains: [...twoChains], market: main.market, now },
      siteUrl: "https://site.example.test",
      readStatus: opened.readStatus,
    },
    routes: [...routes, postListing],
    baseUrl: "https://api.example.test",
    ...{ logger, reads: main.opened.reads, cells: opened.cells },
    responseCache: openResponseCache({ now }),
  });
  api = await listen(app, "127.0.0.1", 0);
});
afterAll(async () => {
  await api?.close();
  await opened?.stopFeeds();
  await opened?.close();
  await projector?.stop();
  ending.abort();
  await Promise.all([own?.drop(), shared?.book.drop()]);
});

type Seen = { posted: Map<string, number>; refused: number; longestMs: number };

async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(`http://127.0.0.1:${api.port}${path}`, init);
  if (response.status < 500) return response;
  expect([path, response.status, response.headers.has("retry-after")]).toEqual([path, 503, true]);
  return response;
}

/** Posts one listing after the other, each until it is taken, and reads what it has written. */
async function trade(chainId: number, writer: number, seen: Seen, isOver: () => boolean) {
  for (let number = 1; !isOver(); number += 1) {
    const body = JSON.stringify({ chainId, salt: writer * 100_000 + number });
    const startedAt = performance.now();
    let answer = await ask("/v1/test/listings", postOf(body));
    for (; answer.status === 503; answer = await ask("/v1/test/listings", postOf(body))) {
      seen.refused += 1;
      await delay(50);
    }
    seen.longestMs = Math.max(seen.longestMs, performance.now() - startedAt);
    expect(answer.status).toBe(200);
    const { data } = (await answer.json()) as { data: { askId: string } };
    seen.posted.set(data.askId, chainId);
    const asked = { headers: { "x-min-position": answer.headers.get("x-position") ?? "" } };
    const path = `/v1/listings/${data.askId}?chainId=${chainId}`;
    await until("the listing that was posted", async () => {
      const { status } = await ask(path, asked);
      expect([200, 503]).toContain(status);
      return status === 200;
    });
  }
}

const postOf = (body: string) => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body,
});

it("moves under load: nothing that was acknowledged is lost, no event is repeated or missing", async () => {
  const seen = new Map(
    twoChains.map((chain) => [chain, { posted: new Map(), refused: 0, longestMs: 0 } as Seen]),
  );
  const of = (chain: (typeof twoChains)[number]) => seen.get(chain) as Seen;
  let [isOver, areAllPosted] = [false, false];
  const traders = twoChains.flatMap((chain) =>
    [1, 2].map((writer) => trade(chain, writer, of(chain), () => isOver)),
  );
  const followers = twoChains.map((chain) => followEvents(ask, chain, () => areAllPosted));
  await until("some trade", async () => of(moved).posted.size > 20);
  const { pausedMs } = await moveChain({
    ...{ chainId: moved, from: shared.book.db, to: own.db, projections: shared.projections },
    ...{ awaitsIndexer: false, onStep: () => {} },
  });
  const before = of(moved).posted.size;
  await until("trade in the new database", async () => of(moved).posted.size > before + 20);
  isOver = true;
  await Promise.all(traders);
  areAllPosted = true;
  const followed = await Promise.all(followers);

  expect(pausedMs).toBeLessThan(10_000);
  expect(of(moved).longestMs).toBeLessThan(10_000);
  expect(of(1).refused).toBe(0);
  for (const [index, chain] of twoChains.entries()) {
    const again = await followEvents(ask, chain, () => true);
    expect(followed[index]).toEqual(again);
    expect(new Set(again).size).toBe(again.length);
    for (const askId of of(chain).posted.keys()) {
      expect((await ask(`/v1/listings/${askId}?chainId=${chain}`)).status).toBe(200);
    }
  }
  const figures = { pausedMs, refused: of(moved).refused, longestMs: of(moved).longestMs };
  process.stdout.write(`${JSON.stringify({ ...figures, posted: of(moved).posted.size })}\n`);
});
