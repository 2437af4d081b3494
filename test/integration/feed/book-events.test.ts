import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { activityProjection } from "#projections/activity/activity.ts";
import type { Target } from "#projections/engine/checkpoint.ts";
import { appendObservations } from "#projections/log/append.ts";
import { metadataProjection } from "#projections/metadata/metadata.ts";
import { bidsProjection } from "#projections/orders/bids.ts";
import { listingsProjection } from "#projections/orders/listings.ts";
import { bookEventTypes } from "#projections/orders/read-order-events.ts";
import { salesProjection } from "#projections/sales/sales.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { type MarketEvent, market } from "#sdk/src/index.ts";
import {
  addressOf,
  appendEvents,
  block,
  createProjection,
  project,
  setBlocks,
} from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { approval, givenListing, transferred } from "#test/support/orders/order-facts.ts";
import { testFee } from "#test/support/orders/test-market.ts";
import { openReader } from "./feed-reader.ts";
import { type FeedServer, serveFeed } from "./feed-stage.ts";

let database: TestDatabase;
let server: FeedServer;
const targets: Target[] = [];

beforeAll(async () => {
  database = await createDatabase();
  const projections = [
    salesProjection({ feeRecipient: testFee.recipient }),
    ownershipProjection,
    activityProjection,
    metadataProjection,
    listingsProjection,
    bidsProjection,
  ];
  for (const one of projections) targets.push(await createProjection(database.db, one));
  server = await serveFeed(database.db, { pollMs: 20 });
});
afterAll(async () => {
  await server?.close();
  await database?.drop();
});

const [maker, other, contract] = [addressOf(1), addressOf(2), addressOf(50)];
const listings = [1n, 2n, 3n].map((tokenId) =>
  givenListing({ chainId: 33139, maker, contract, tokenId, unitPriceWei: tokenId * 1_000n }),
);
const types = bookEventTypes.join();

/** A maker lists three tokens, one moves away, and comes back by a reorg. */
async function happen(): Promise<void> {
  const { db } = database;
  const [first, second, third] = [1, 2, 3].map((number) => block(33139, number));
  if (first === undefined || second === undefined || third === undefined)
    throw new Error("no block");
  await appendEvents(db, [
    approval(contract, maker, true, { at: first }),
    ...[1n, 2n, 3n].map((tokenId, log) =>
      transferred({ contract, tokenId, to: maker }, { at: second, log }),
    ),
  ]);
  for (const { submitted } of listings) {
    await appendObservations(db, [submitted]);
    await project(db, targets);
  }
  await appendEvents(db, [
    transferred({ contract, tokenId: 1n, from: maker, to: other }, { at: third }),
  ]);
  await project(db, targets);
  await setBlocks(db, "block_retracted", [third]);
  await project(db, targets);
}

const open = () => market({ url: server.url, chainId: 33139, key: "a key" });

describe("events of the order book", () => {
  it("come in a stream and in pages, in one order with what happened, for who asks for them", async () => {
    const reader = openReader({ url: () => server.stream(`?type=${types},transfer`), from: "0-0" });
    await reader.connect();
    await happen();
    await reader.until(({ heard }) => heard.some(({ event }) => event === "retracted"));
    await reader.until(({ heard }) => heard.at(-1)?.event === "floor_changed");
    reader.leave();
    const told = reader.heard.map(({ event }) => event);
    expect(told.filter((type) => type === "order_activated")).toHaveLength(4);
    expect(told.slice(-3)).toEqual(["retracted", "order_activated", "floor_changed"]);

    const { data } = await open().get("/v1/events", {
      ...{ after: "0-0", per_page: 100, type: `${types},transfer` },
    });
    expect(data.map(({ id }) => id)).toEqual(reader.heard.map(({ id }) => id));
    for (const { id } of data) {
      const { data: rest } = await open().get("/v1/events", {
        ...{ after: id, per_page: 1, type: `${types},transfer` },
      });
      expect(rest[0]?.id).toEqual(data[data.findIndex((one) => one.id === id) + 1]?.id);
    }
  });

  it("are left out for who names no types, and of what is final", async () => {
    const unasked = await open().get("/v1/events", { after: "0-0", per_page: 100 });
    expect(new Set(unasked.data.map(({ type }) => type))).toEqual(
      new Set(["transfer", "mint", "listing", "retracted"]),
    );
    const final = await open().get("/v1/events", { after: "0-0", type: types, delivery: "final" });
    expect(final.data).toEqual([]);
  });

  it("say all that a follower needs", async () => {
    const { data } = await open().get("/v1/events", { after: "0-0", type: "order_activated" });
    expect(data[0]).toMatchObject({
      ...{
        type: "order_activated",
        side: "ask",
        marketplace: "native",
        isFinal: false,
        retracts: null,
      },
      ...{ contract, tokenId: "1", from: maker, quantity: "1", priceWei: "1000", totalWei: "1000" },
      order: {
        status: "active",
        reason: null,
        kind: "single-token",
        standard: "erc721",
        quantity: "1",
      },
    });
    const floors = await open().get("/v1/events", { after: "0-0", type: "floor_changed" });
    expect(
      floors.data.map(({ priceWei, previousPriceWei }) => [previousPriceWei, priceWei]),
    ).toEqual([
      [null, "1000"],
      ["1000", "2000"],
      ["2000", "1000"],
    ]);
  });

  it("give a client the book, which goes on where it was", async () => {
    const ended = new AbortController();
    const book = open().followBook({ transport: "poll", signal: ended.signal });
    let events = 0;
    for await (const _ of book) {
      events += 1;
      if (events === 3) break;
    }
    const more = open().followBook({
      ...{ transport: "stream", signal: ended.signal, orders: book.orders.values() },
      after: book.position ?? "0-0",
    });
    const isLast = ({ type, tokenId }: MarketEvent) =>
      type === "order_activated" && tokenId === "1" && more.orders.size === 3;
    for await (const event of more) if (isLast(event)) break;
    ended.abort();
    const active = more.active("ask", new Date(0)).map(({ orderHash }) => orderHash);
    expect(active.toSorted()).toEqual(listings.map(({ orderHash }) => orderHash).toSorted());
    expect(more.active("ask")).toEqual([]);
  });
});
