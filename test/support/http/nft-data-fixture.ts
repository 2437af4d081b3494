import type { RequestHandler } from "express";
import { sql } from "kysely";
import { pino } from "pino";
import { expect } from "vitest";
import { z } from "zod";
import { openBearerTokens } from "#api/accounts/bearer-tokens.ts";
import { createApp } from "#api/app.ts";
import type { ResponseCache } from "#api/http/reads/response-cache.ts";
import { hashKey, lastCharacters, makeKey } from "#api/keys/key-text.ts";
import { openLimiter } from "#api/keys/limiter.ts";
import { allProjections } from "#projections/all.ts";
import { appendObservations } from "#projections/log/append.ts";
import type { Database } from "#projections/log/database.ts";
import { rankCollection } from "#projections/traits/rank-collection.ts";
import { readOutdatedRankings } from "#projections/traits/read-outdated-rankings.ts";
import { randomFrom } from "#test/simulation/random.ts";
import { appendEvents } from "../database/given.ts";
import { collectionsRegistered, openTokenMarket } from "../market-data/token-market.ts";
import { feeRecipient, receivedAt } from "../orders/order-facts.ts";
import { openProjectedLog } from "../orders/projected-log.ts";
import { openTestMarket } from "../orders/test-market.ts";
import { serve } from "./openapi.ts";

export const base = "/apechain";

const List = z.strictObject({
  success: z.literal(true),
  data: z.array(z.looseObject({})),
  next_cursor: z.string().nullable(),
  has_more: z.boolean(),
});

type Options = {
  /** Requests per minute; without it there is no limit. */
  limits?: { keyless: number; account: number };
  now?: () => Date;
  stream?: RequestHandler;
  /** Without it every answer is made anew. */
  responseCache?: ResponseCache;
};

let accounts = 0;

/** An account with a client key. */
export async function makeAccount(db: Database): Promise<{ email: string; clientKey: string }> {
  accounts += 1;
  const [email, clientKey] = [`client${accounts}@example.test`, makeKey("client")];
  await sql`
    with account as (
      insert into access.account (email, password, created_at) values (${email}, 'none', now()) returning id
    )
    insert into access.client_key (hash, account_id, ending, created_at)
    select ${hashKey(clientKey)}, id, ${lastCharacters(clientKey)}, now() from account`.execute(db);
  return { email, clientKey };
}

/** The app of one process, with the account API of chain 1. */
export function openNftDataApp(db: Database, { limits, now, stream, responseCache }: Options) {
  const logger = pino({ level: "silent" });
  const moment = now ?? (() => new Date());
  const shared = { db, siteUrl: "https://site.example.test", now: moment };
  const limiter =
    limits &&
    openLimiter({
      db,
      limits: { keyless: limits.keyless, instant: 60, permanent: 120 },
      logger,
      now,
      onUse: () => {},
      deadlineMs: 20_000,
    });
  const market = openTestMarket(db);
  const { prefix, isPaused } = market;
  return createApp({
    context: {
      ...shared,
      chains: [1, 33139],
      readStatus: () => Promise.reject(new Error("the status is not used in this test")),
      market,
    },
    baseUrl: "https://api.example.test",
    logger,
    trustProxy: ["127.0.0.1"],
    ...(responseCache && { responseCache }),
    ...(limiter && { limiter }),
    nftData: {
      context: { ...shared, prefix, isPaused, chainId: 1, tokens: openBearerTokens({ db }) },
      segment: base.slice(1),
      limiter,
      perMinute: limits?.account ?? 0,
      ...(stream && { stream }),
    },
  });
}

export type NftDataFixture = Awaited<ReturnType<typeof openNftDataFixture>>;

/** The account API over a log and all its projections, at a time that `at` sets. */
export async function openNftDataFixture() {
  const book = await openProjectedLog(allProjections({ feeRecipient }));
  await book.clear();
  let now = receivedAt;
  const app = openNftDataApp(book.db, { now: () => new Date(Number(now) * 1000) });
  const api = await serve(app, { base, path: "/openapi.json" });
  const { email, clientKey } = await makeAccount(book.db);
  const login = await api.post(`${base}/api/auth/login`, { email, client_key: clientKey });
  const { token } = z.object({ data: z.object({ token: z.string() }) }).parse(login.body).data;
  const headers = { authorization: `Bearer ${token}` };
  const get = (path: string, more: Record<string, string> = {}) =>
    api.get(base + path, { ...headers, ...more });
  const post = (path: string, body: unknown) => api.post(base + path, body, headers);

  async function list(path: string) {
    const { status, body } = await get(path);
    expect(status, JSON.stringify(body)).toBe(200);
    const page = List.parse(body);
    expect(page.has_more).toBe(page.next_cursor !== null);
    return page;
  }

  return {
    ...book,
    api,
    get,
    post,
    list,
    at(moment: bigint) {
      now = moment;
    },
    async data(path: string): Promise<unknown> {
      const { status, body } = await get(path);
      expect(status, JSON.stringify(body)).toBe(200);
      return z.object({ data: z.unknown() }).parse(body).data;
    },
    /** The response of /v1. */
    async v1(path: string): Promise<unknown> {
      return await (await fetch(`${api.url}/v1${path}`)).json();
    },
    async refusal(path: string, status: number, code: string) {
      const { body, ...answer } = await get(path);
      const failure = z
        .looseObject({ success: z.literal(false), error: z.string(), code: z.string() })
        .parse(body);
      expect([answer.status, failure.code], path).toEqual([status, code]);
    },
    /** Every row of a list, by following cursors from the first page. */
    async walk(path: string, limit: number, between: () => Promise<void> = async () => {}) {
      const first = `${path}${path.includes("?") ? "&" : "?"}limit=${limit}`;
      const rows: Record<string, unknown>[] = [];
      for (let next = await list(first); ; ) {
        expect(next.data.length).toBeLessThanOrEqual(limit);
        rows.push(...next.data);
        if (next.next_cursor === null) return rows;
        await between();
        next = await list(`${first}&cursor=${next.next_cursor}`);
      }
    },
    /** Plays a random market from an empty log. */
    async playMarket(seed: number, steps: number) {
      await book.clear();
      await sql`truncate rarity.token, rarity.collection`.execute(book.db);
      const market = openTokenMarket(randomFrom(seed));
      const { events, observations } = market.opening();
      await appendEvents(book.db, events);
      await appendObservations(book.db, [...collectionsRegistered(), ...observations]);
      for (let step = 0; step < steps; step += 1) {
        const next = market.next();
        if ("facts" in next) await book.happens(...next.facts);
        else if ("drop" in next) await book.retract(next.drop);
        else await book.readopt(next.restore);
      }
      for (const { collectionId } of await readOutdatedRankings(book.db)) {
        await rankCollection(book.db, collectionId);
      }
      now = market.now();
      return now;
    },
    async close() {
      await api.close();
      await book.drop();
    },
  };
}
