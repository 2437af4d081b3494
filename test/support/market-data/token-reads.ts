import { sql } from "kysely";
import { pino } from "pino";
import { expect } from "vitest";
import { z } from "zod";
import { createApp } from "#api/app.ts";
import { collectionsProjection } from "#projections/collections/collections.ts";
import { appendObservations } from "#projections/log/append.ts";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { metadataProjection } from "#projections/metadata/metadata.ts";
import { bidsProjection } from "#projections/orders/bids.ts";
import { listingsProjection } from "#projections/orders/listings.ts";
import { coinPricesProjection } from "#projections/prices/coin-prices.ts";
import { salesProjection } from "#projections/sales/sales.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { rankCollection } from "#projections/traits/rank-collection.ts";
import { readOutdatedRankings } from "#projections/traits/read-outdated-rankings.ts";
import { traitsProjection } from "#projections/traits/traits.ts";
import { randomFrom } from "#test/simulation/random.ts";
import { appendEvents } from "../database/given.ts";
import { serve } from "../http/openapi.ts";
import { feeRecipient, receivedAt } from "../orders/order-facts.ts";
import { openProjectedLog } from "../orders/projected-log.ts";
import { openTestMarket } from "../orders/test-market.ts";
import { collectionsRegistered, openTokenMarket } from "./token-market.ts";

const TokenRow = z.looseObject({ contract: z.string(), tokenId: z.string() });
export type TokenRow = z.output<typeof TokenRow>;

const List = z.object({
  data: z.array(TokenRow),
  meta: z.strictObject({
    chainId: z.literal(1),
    total: z.number(),
    per_page: z.number(),
    next_cursor: z.string().nullable(),
  }),
});

export type TokenReads = Awaited<ReturnType<typeof openTokenReads>>;

/** The API over a log and the projections that tokens are read from, at a time set by `at`. */
export async function openTokenReads() {
  const book = await openProjectedLog([
    ownershipProjection,
    metadataProjection,
    collectionsProjection,
    coinPricesProjection,
    salesProjection({ feeRecipient }),
    listingsProjection,
    bidsProjection,
    traitsProjection({
      metadata: metadataProjection,
      ownership: ownershipProjection,
      listings: listingsProjection,
    }),
  ]);
  let now = receivedAt;
  const open = (db: Database, moment: () => bigint) =>
    serve(
      createApp({
        context: {
          db,
          siteUrl: "https://site.example.test",
          chains: [1, 33139],
          readStatus: () => Promise.reject(new Error("the status is not read here")),
          market: openTestMarket(book.db),
          now: () => new Date(Number(moment()) * 1000),
        },
        baseUrl: "https://api.example.test",
        logger: pino({ level: "silent" }),
      }),
    );
  const api = await open(book.db, () => now);

  async function answer(path: string): Promise<unknown> {
    const { status, body } = await api.get(path);
    expect(status, JSON.stringify(body)).toBe(200);
    return body;
  }
  const list = async (path: string) => List.parse(await answer(path));

  async function rank(): Promise<void> {
    for (const { collectionId } of await readOutdatedRankings(book.db)) {
      await rankCollection(book.db, collectionId);
    }
  }

  return {
    ...book,
    api,
    answer,
    list,
    rank,
    at(moment: bigint) {
      now = moment;
    },
    async refusal(path: string, status: number, code: string) {
      const answer = await api.get(path);
      const failure = z.looseObject({ code: z.string() }).parse(answer.body);
      expect([answer.status, failure.code], path).toEqual([status, code]);
    },
    /** The API of another process, with empty caches. */
    async another(moment: bigint) {
      const db = openDatabase({ url: book.url, applicationName: "another", onIdleError: () => {} });
      const other = await open(db, () => moment);
      return {
        get: other.get,
        async close() {
          await other.close();
          await db.destroy();
        },
      };
    },
    /** Every row of a list, by following cursors from the first page. */
    async walk(path: string, between: () => Promise<void> = async () => {}) {
      const rows: TokenRow[] = [];
      for (let next = await list(path); ; ) {
        rows.push(...next.data);
        if (next.meta.next_cursor === null) return { rows, total: next.meta.total };
        await between();
        next = await list(`${path}&cursor=${next.meta.next_cursor}`);
      }
    },
    /** Plays a random market from an empty log. Returns what goes on from there. */
    async playMarket(seed: number, steps: number) {
      await book.clear();
      await sql`truncate rarity.token, rarity.collection`.execute(book.db);
      const market = openTokenMarket(randomFrom(seed));
      const { events, observations } = market.opening();
      await appendEvents(book.db, events);
      await appendObservations(book.db, [...collectionsRegistered(), ...observations]);
      const go = async () => {
        const next = market.next();
        if ("facts" in next) await book.happens(...next.facts);
        else if ("drop" in next) await book.retract(next.drop);
        else await book.readopt(next.restore);
      };
      for (let step = 0; step < steps; step += 1) await go();
      await rank();
      now = market.now();
      return { go, now: market.now };
    },
    async close() {
      await api.close();
      await book.drop();
    },
  };
}
