import type { Address } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { seaportAddresses } from "#abis/deployments.ts";
import { appendObservations } from "#projections/log/append.ts";
import {
  addressOf,
  appendEvents,
  block,
  type ChainEvent,
  setBlocks,
  zeroAddress,
} from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import {
  cancelled,
  counterRaised,
  filled,
  givenBid,
  givenListing,
} from "#test/support/orders/order-facts.ts";
import { partnerListingOf, seen } from "#test/support/orders/partner-orders.ts";
import {
  catchUp,
  type FeedServer,
  makeCheckpoints,
  serveFeed,
  transferred,
  transfers,
} from "./feed-stage.ts";

let database: TestDatabase;
let server: FeedServer;

beforeAll(async () => {
  database = await createDatabase();
  await makeCheckpoints(database.db);
  server = await serveFeed(database.db);
});
afterAll(async () => {
  await server.close();
  await database.drop();
});

const Page = z.object({
  data: z.array(z.looseObject({ id: z.string(), type: z.string() })),
  meta: z.object({
    chainId: z.literal(33139),
    per_page: z.number(),
    next: z.string(),
    has_more: z.boolean(),
  }),
});
type Events = z.output<typeof Page>["data"];

async function page(query: string) {
  const { status, body } = await server.get(`/v1/events?chainId=33139${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return Page.parse(body);
}

async function all(after: string, query = ""): Promise<Events> {
  const events: Events = [];
  for (let next = after; ; ) {
    const { data, meta } = await page(`&after=${next}${query}`);
    events.push(...data);
    next = meta.next;
    if (!meta.has_more) return events;
  }
}

const now = async () => (await page("")).meta.next;

async function append(...events: ChainEvent[]): Promise<void> {
  await appendEvents(database.db, events);
  await catchUp(database.db);
}

describe("GET /v1/events", () => {
  it("begins where the newest event ends, and tells of what comes from there", async () => {
    await transferred(database.db, 3);
    const first = await page("");
    expect(first.data).toEqual([]);
    expect(first.meta.has_more).toBe(false);

    await transferred(database.db, 2);
    expect((await page(`&after=${first.meta.next}`)).data).toHaveLength(2);
  });

  it("gives the same events at any page size, through reorgs", async () => {
    const blocks = [];
    for (let count = 1; count < 8; count += 1) {
      const events = transfers(count);
      blocks.push(...events.slice(0, 1).map((event) => event.block));
      await append(...events);
      await setBlocks(database.db, "block_retracted", blocks.slice(-2));
      if (count % 2 === 0) await setBlocks(database.db, "block_readopted", blocks.slice(-4, -1));
    }
    await catchUp(database.db);

    const whole = await all("0-0", "&per_page=100");
    expect(whole.length).toBeGreaterThan(40);
    for (const size of [1, 2, 3, 7, 50]) {
      expect(await all("0-0", `&per_page=${size}`)).toEqual(whole);
    }
    for (const [index, { id }] of whole.entries()) {
      const { data } = await page(`&after=${id}&per_page=1`);
      expect(data).toEqual(whole.slice(index + 1, index + 2));
    }
  });

  it("takes back each event of a dropped block by its id, and tells it again when the block returns", async () => {
    const begin = await now();
    const events = transfers(2);
    const blocks = events.slice(0, 1).map((event) => event.block);
    await append(...events);
    await setBlocks(database.db, "block_retracted", blocks);
    await setBlocks(database.db, "block_readopted", blocks);
    await setBlocks(database.db, "block_retracted", blocks);
    await catchUp(database.db);

    const told = await all(begin);
    const shape = told.map(({ type, again, retracts }) => ({ type, again, retracts }));
    const [first, second, , , third, fourth] = told.map(({ id, type }) => {
      return { type: "retracted", again: false, retracts: { id, type, reason: "reorg" } };
    });
    const plain = told.slice(0, 2).map(({ type }) => ({ type, again: false, retracts: null }));
    expect(shape).toEqual([
      ...plain,
      ...[second, first],
      ...plain.map((event) => ({ ...event, again: true })),
      ...[fourth, third],
    ]);
    const { id: _, ...content } = told[0] ?? {};
    const { id: __, ...again } = told[4] ?? {};
    expect(again).toEqual({ ...content, again: true });
  });

  it("goes on from an empty page", async () => {
    const begin = await now();
    for (let step = 0; step < 3; step += 1) await transferred(database.db, 2_000);
    const wallet = addressOf(77);
    const filter = `&wallet=${wallet}`;
    const empty = await page(`&after=${begin}${filter}`);
    expect(empty.data).toEqual([]);
    expect(empty.meta.has_more).toBe(true);
    expect(empty.meta.next).not.toBe(begin);

    await append({ ...transfers(1)[0], to: wallet } as ChainEvent);
    expect(await all(begin, filter)).toHaveLength(1);
  });

  it("tells orders taken in, their fills and cancels with the token they are about", async () => {
    const begin = await now();
    const chainId = 33139;
    const [maker, buyer, contract] = [addressOf(1), addressOf(2), addressOf(50)];
    const terms = { chainId, maker, contract, unitPriceWei: 5_000n } as const;
    const listing = givenListing({ ...terms, tokenId: 7n });
    const sold = givenListing({ ...terms, tokenId: 8n });
    const bid = givenBid({ ...terms, maker: buyer });
    const shown = givenListing({ ...terms, tokenId: 9n });
    await appendObservations(
      database.db,
      [listing, sold, bid]
        .map(({ submitted }) => submitted)
        .concat(seen(partnerListingOf("opensea", shown))),
    );
    const at = block(chainId, 900_000);
    await append(
      { ...filled(sold, 1n, { at, log: 1 }), transactionIndex: 1 },
      { ...cancelled(listing, { at, log: 2 }), transactionIndex: 2 },
      { ...cancelled(shown, { at, log: 3 }), transactionIndex: 3 },
      { ...counterRaised(buyer, 1n, { at, log: 4 }), transactionIndex: 4 },
    );

    const told = await all(begin);
    expect(told).toMatchObject([
      {
        type: "listing",
        from: maker,
        contract,
        tokenId: "7",
        priceWei: "5000",
        orderHash: listing.orderHash,
      },
      { type: "listing", tokenId: "8" },
      { type: "offer", from: buyer, contract, tokenId: null, currency: { symbol: "WAPE" } },
      {
        type: "sale",
        from: maker,
        contract,
        tokenId: "8",
        totalWei: "5000",
        orderHash: sold.orderHash,
      },
      { type: "cancel", from: maker, contract, tokenId: "7", orderHash: listing.orderHash },
      { type: "cancel", from: maker, contract, tokenId: "9", orderHash: shown.orderHash },
      { type: "cancel", from: buyer, contract: null, orderHash: null },
    ]);
    const ofCollection = await all(begin, `&collection=${contract}`);
    expect(ofCollection).toEqual(told.slice(0, 6));
    expect(await all(begin, "&type=sale,cancel")).toEqual(told.slice(3));
  });

  it("corrects the sales of a transaction whose facts come in pieces", async () => {
    const begin = await now();
    const [seller, buyer, broker, contract] = [1, 2, 3, 50].map(addressOf) as Address[];
    const at = block(33139, 900_001);
    const nft = { itemType: 2, token: contract, identifier: "5", amount: "1" };
    const ether = { itemType: 0, token: zeroAddress, identifier: "0", amount: "900" };
    const exchange = {
      ...{ block: at, contract: seaportAddresses["1.6"], transactionIndex: 0 },
      ...(broker && { to: broker }),
    };
    const payload = { zone: zeroAddress, sender: broker, target: null, calldataTail: null };
    const sold = { offer: [nft], consideration: [{ ...ether, recipient: seller }] };
    const bought = { offer: [ether], consideration: [{ ...nft, recipient: buyer }] };
    const orderHashes = [block(1, 1).hash, block(1, 2).hash] as const;
    const fill = { ...exchange, kind: "order_fulfilled" } as const;
    const [first, second] = orderHashes;
    await append({
      ...{ ...fill, logIndex: 1, from: seller, orderHash: first },
      payload: { ...payload, ...sold },
    } as ChainEvent);
    await append({
      ...{ ...fill, logIndex: 2, from: buyer, orderHash: second },
      payload: { ...payload, ...bought },
    } as ChainEvent);
    await append({ ...exchange, kind: "orders_matched", logIndex: 3, payload: { orderHashes } });

    const told = await all(begin);
    const [direct, resold] = told;
    const takenBack = (event: Events[number] | undefined) => ({
      ...{ type: "retracted", from: event?.from, to: event?.to, saleId: event?.saleId },
      retracts: { id: event?.id, type: "sale", reason: "correction" },
    });
    expect(told).toMatchObject([
      { type: "sale", from: seller, to: broker },
      { type: "sale", from: broker, to: buyer },
      takenBack(resold),
      takenBack(direct),
      { type: "sale", from: seller, to: buyer, retracts: null, saleId: direct?.saleId },
    ]);
  });

  it.each([
    ["&type=theft", "invalid_parameters"],
    ["&after=1", "invalid_cursor"],
    ["&after=99999999999999999-1", "invalid_cursor"],
    ["&per_page=0", "invalid_parameters"],
  ])("answers 422 to %s: %s", async (query, code) => {
    const { status, body } = await server.get(`/v1/events?chainId=33139${query}`);
    expect(status).toBe(422);
    expect(body).toMatchObject({ code });
  });
});
