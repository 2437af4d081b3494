import fc from "fast-check";
import { sql } from "kysely";
import { type Address, type Hex, keccak256, stringToHex } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { seaportAddresses } from "#abis/deployments.ts";
import { wrappedNative } from "#chains/index.ts";
import { dropTarget, type Target } from "#projections/engine/checkpoint.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { salesProjection } from "#projections/sales/sales.ts";
import {
  addressOf,
  appendEvents,
  type Block,
  block,
  type ChainEvent,
  createProjection,
  dumpTable,
  project,
  setBlocks,
  zeroAddress,
} from "#test/support/database/given.ts";
import { createDatabase } from "#test/support/database/postgres.ts";
import { runsOf } from "#test/support/thoroughness.ts";

const tables = [
  ...["sale", "total", "token_total", "volume", "day", "sale_count_bits"],
  ...["unresolved_event", "unresolved_event_total", "wash_trade"],
];
const [apes, punks, alice, bob, carol, fees] = [1, 2, 3, 4, 5, 6].map(addressOf) as [
  Address,
  Address,
  Address,
  Address,
  Address,
  Address,
];
const weth = wrappedNative[1];
const projection = salesProjection({ feeRecipient: fees });

let database: Awaited<ReturnType<typeof createDatabase>>;
let target: Target;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  target = await createProjection(database.db, projection);
});
afterEach(() => startOver());

async function startOver() {
  for (const schema of [schemaOf("sales"), "sales_shadow"]) await dropTarget(database.db, schema);
  await sql`truncate log.fact`.execute(database.db);
  await sql`update log.head set position = 0`.execute(database.db);
}

type Place = { block: Block; transactionIndex: number; transactionHash: Hex; logIndex: number };
type Item = { itemType: number; token: Address; identifier: string; amount: string };

function place(where: Block, transactionIndex: number, logIndex: number, name = "t"): Place {
  const transactionHash = keccak256(stringToHex(`${name} ${transactionIndex}`));
  return { block: where, transactionIndex, transactionHash, logIndex };
}

const nft = (token: Address, id: number): Item => {
  return { itemType: 2, token, identifier: `${id}`, amount: "1" };
};
const wei = (amount: number, token: Address = zeroAddress): Item => {
  return { itemType: token === zeroAddress ? 0 : 1, token, identifier: "0", amount: `${amount}` };
};
const to = (recipient: Address, item: Item) => ({ ...item, recipient });

function fulfilled(
  at: Place,
  from: Address,
  recipient: Address,
  offer: Item[],
  consideration: (Item & { recipient: Address })[],
): ChainEvent {
  return {
    ...at,
    kind: "order_fulfilled",
    contract: seaportAddresses["1.6"],
    from,
    to: recipient,
    orderHash: orderHash(at.logIndex),
    payload: {
      zone: zeroAddress,
      offer,
      consideration,
      sender: recipient,
      target: seaportAddresses["1.6"],
      calldataTail: null,
    },
  };
}

function orderHash(logIndex: number): Hex {
  return keccak256(stringToHex(`order ${logIndex}`));
}

/** Alice sells apes to Bob. */
function listing(at: Place, ids: number[], priceWei: number, collection = apes): ChainEvent {
  return fulfilled(
    at,
    alice,
    bob,
    ids.map((id) => nft(collection, id)),
    [to(alice, wei(priceWei - 2)), to(fees, wei(2))],
  );
}

/** Alice accepts Bob's bid by a match: three events from the given log on. */
function acceptedBid(at: Place, id: number, priceWei: number): ChainEvent[] {
  const mirror = { ...at, logIndex: at.logIndex + 1 };
  const last = { ...at, logIndex: at.logIndex + 2 };
  return [
    fulfilled(
      at,
      bob,
      alice,
      [wei(priceWei, weth)],
      [to(bob, nft(apes, id)), to(fees, wei(2, weth))],
    ),
    fulfilled(mirror, alice, alice, [nft(apes, id)], [to(alice, wei(priceWei - 2, weth))]),
    {
      ...last,
      kind: "orders_matched",
      contract: seaportAddresses["1.6"],
      payload: { orderHashes: [orderHash(at.logIndex), orderHash(mirror.logIndex)] },
    },
  ];
}

async function readSales() {
  const { rows } = await sql<Record<string, unknown>>`
    select sale.*, contract.address as contract from sales.sale
    join log.contract using (contract_id)
    order by block_id, transaction_index, ordinal`.execute(database.db);
  return rows;
}

async function dumpAll(schema: string) {
  return Promise.all(tables.map((table) => dumpTable(database.db, `${schema}.${table}`)));
}

/** The counters as the sales of a schema give them. */
async function recount(schema: string) {
  const { db } = database;
  const totals = await sql<{ row: string }>`
    select (chain_id, coalesce(contract_id, 0), count(*))::text as row from ${sql.table(`${schema}.sale`)}
    group by grouping sets ((chain_id, contract_id), chain_id) order by 1`.execute(db);
  const volumes = await sql<{ row: string }>`
    select (contract_id, currency, date_trunc('hour', timestamp, 'UTC'), count(*), sum(total_wei))::text as row
    from ${sql.table(`${schema}.sale`)} group by contract_id, currency, date_trunc('hour', timestamp, 'UTC')
    order by 1`.execute(db);
  const ofTokens = await sql<{ row: string }>`
    select (chain_id, token_id, count(*))::text as row from ${sql.table(`${schema}.sale`)}
    group by chain_id, token_id order by 1`.execute(db);
  const days = await sql<{ row: string }>`
    select (chain_id, coalesce(contract_id, 0), day, marketplace, protocol, currency, count(*))::text as row
    from (select *, date_trunc('day', timestamp, 'UTC') as day from ${sql.table(`${schema}.sale`)}) sale
    group by grouping sets ((chain_id, contract_id, day, marketplace, protocol, currency), (chain_id, day, marketplace, protocol, currency))
    order by 1`.execute(db);
  return [totals.rows, ofTokens.rows, volumes.rows, days.rows].map((rows) =>
    rows.map(({ row }) => row),
  );
}

const blocks = [1, 2, 3].flatMap((number) => [
  block(1, number),
  block(1, number, "fork"),
  block(33139, number * 400),
]);

const trade = fc.record({
  where: fc.constantFrom(...blocks),
  transactionIndex: fc.integer({ min: 0, max: 2 }),
  id: fc.integer({ min: 1, max: 4 }),
  price: fc.integer({ min: 3, max: 1000 }),
  shape: fc.constantFrom("ask", "bundle", "punk", "bid"),
});
type TradeMade = typeof trade extends fc.Arbitrary<infer Made> ? Made : never;

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ trades: fc.array(trade, { maxLength: 6 }), late: fc.nat(7) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      state: fc.constantFrom("block_retracted" as const, "block_readopted" as const),
      blocks: fc.subarray(blocks),
    }),
  },
  { weight: 2, arbitrary: fc.record({ windowFacts: fc.integer({ min: 1, max: 9 }) }) },
);

type Step = typeof step extends fc.Arbitrary<infer Taken> ? Taken : never;

function eventsOf(
  { where, transactionIndex, id, price, shape }: TradeMade,
  logIndex: number,
): ChainEvent[] {
  const at = place(where, transactionIndex, logIndex);
  if (shape === "bid") return acceptedBid(at, id, price);
  if (shape === "bundle") return [listing(at, [id, id + 10], price)];
  return [listing(at, [id], price, shape === "punk" ? punks : apes)];
}

/** Takes a step. Returns the events that it keeps back. */
async function take(each: Step, firstLogIndex: number): Promise<ChainEvent[]> {
  if ("state" in each) await setBlocks(database.db, each.state, each.blocks);
  if ("windowFacts" in each) await project(database.db, [target], each.windowFacts);
  if (!("trades" in each)) return [];
  const events = each.trades.flatMap((made, nth) => eventsOf(made, firstLogIndex + nth * 4));
  const isLate = (_: ChainEvent, nth: number) => nth % 8 === each.late;
  await appendEvents(
    database.db,
    events.filter((event, nth) => !isLate(event, nth)),
  );
  return events.filter(isLate);
}

describe("wash trades", () => {
  /** Ape 7 changes hands; `hours` after the first block. */
  const sold = (seller: Address, buyer: Address, hours: number, priceWei = 100, itemType = 2) => {
    const where = { ...block(1, 10 + hours), timestamp: block(1, 10).timestamp + hours * 3600 };
    const item = { ...nft(apes, 7), itemType };
    return fulfilled(
      place(where, 0, 1, `${hours}`),
      seller,
      buyer,
      [item],
      [to(seller, wei(priceWei))],
    );
  };

  async function rules(...events: ChainEvent[]): Promise<(string | null)[]> {
    await appendEvents(database.db, events);
    await project(database.db, [target]);
    const { rows } = await sql<{ rule: string | null }>`
      select w.rule from sales.sale s left join sales.wash_trade w using (block_id, transaction_index, ordinal)
      order by s.block_id`.execute(database.db);
    return rows.map(({ rule }) => rule);
  }

  it("are those with one owner on both ends", async () => {
    expect(await rules(sold(alice, alice, 0))).toEqual(["same_owner"]);
  });

  it("are those back and forth, the first one too as soon as the second is known", async () => {
    expect(await rules(sold(alice, bob, 0))).toEqual([null]);
    expect(await rules(sold(bob, alice, 5))).toEqual(["back_and_forth", "back_and_forth"]);
  });

  it("are three purchases of a token by one wallet within a day", async () => {
    const repeated = [sold(alice, bob, 0), sold(carol, bob, 8), sold(fees, bob, 24)];
    expect(await rules(...repeated)).toEqual(Array(3).fill("repeated_purchase"));
  });

  it("are not three purchases within more than a day, nor units of an ERC-1155", async () => {
    const slow = [sold(alice, bob, 0), sold(carol, bob, 8), sold(fees, bob, 25)];
    expect(await rules(...slow)).toEqual([null, null, null]);
    await startOver();
    target = await createProjection(database.db, projection);
    const units = [sold(alice, bob, 0, 100, 3), sold(bob, alice, 8, 100, 3)];
    expect(await rules(...units)).toEqual([null, null]);
  });

  it("are none at price zero, which is an unresolved event", async () => {
    expect(await rules(sold(alice, bob, 0, 0))).toEqual([]);
    const { rows } =
      await sql`select protocol, reason, log_index from sales.unresolved_event`.execute(
        database.db,
      );
    expect(rows).toEqual([{ protocol: "seaport", reason: "zero_price", log_index: 1 }]);
  });
});

describe("sales", () => {
  const first = block(1, 100);

  it("holds what a sale's receipt says", async () => {
    await appendEvents(database.db, [listing(place(first, 4, 9), [7], 100)]);
    await project(database.db, [target]);

    expect(await readSales()).toMatchObject([
      {
        chain_id: 1,
        block_number: 100n,
        block_hash: first.hash,
        timestamp: new Date(first.timestamp * 1000),
        transaction_index: 4,
        transaction_hash: place(first, 4, 9).transactionHash,
        ordinal: 0,
        log_index: 9,
        contract: apes,
        token_id: 7n,
        quantity: 1n,
        price_wei: 100n,
        total_wei: 100n,
        currency: zeroAddress,
        seller: alice,
        buyer: bob,
        side: "ask",
        marketplace: "native",
        protocol_version: "1.6",
        exchange: seaportAddresses["1.6"],
        order_hash: orderHash(9),
        fees: [{ recipient: fees, wei: "2", bps: 200, kind: "service" }],
        bundle_size: null,
        bundle_total_wei: null,
      },
    ]);
  });

  it("counts a bundle's volume once", async () => {
    await appendEvents(database.db, [listing(place(first, 0, 0), [1, 2, 3], 100)]);
    await project(database.db, [target]);

    const { rows } = await sql`select sales, wei from sales.volume`.execute(database.db);
    expect(rows).toEqual([{ sales: 3n, wei: 100n }]);
    expect(await readSales()).toMatchObject(
      [34n, 33n, 33n].map((total_wei) => ({ total_wei, bundle_size: 3, bundle_total_wei: 100n })),
    );
  });

  it("makes one sale of a match whose facts come in several windows", async () => {
    for (const event of acceptedBid(place(first, 0, 3), 7, 100)) {
      await appendEvents(database.db, [event]);
      await project(database.db, [target]);
    }

    expect(await readSales()).toMatchObject([
      { ordinal: 0, side: "bid", seller: alice, buyer: bob, total_wei: 100n, currency: weth },
    ]);
  });

  it("forgets the sales of a dropped block, counters included, and remembers them when it comes back", async () => {
    await appendEvents(database.db, [
      listing(place(first, 0, 0), [1, 2], 100),
      listing(place(block(33139, 5), 0, 0), [1], 50),
    ]);
    await project(database.db, [target]);
    const before = await dumpAll("sales");

    await setBlocks(database.db, "block_retracted", [first]);
    await project(database.db, [target]);
    expect(await readSales()).toMatchObject([{ chain_id: 33139, total_wei: 50n }]);
    expect((await dumpAll("sales")).map((rows) => rows.length)).toEqual([
      ...[1, 2, 1, 1, 2, 1, 0, 0, 0],
    ]);

    await setBlocks(database.db, "block_readopted", [first]);
    await project(database.db, [target]);
    expect(await dumpAll("sales")).toEqual(before);
  });

  it("gives a transaction mined in two live blocks the same sale ids", async () => {
    const events = [first, block(1, 100, "fork")].map((where) =>
      listing(place(where, 0, 0), [7], 100),
    );
    await appendEvents(database.db, events);
    await project(database.db, [target]);

    const sales = await readSales();
    expect(sales.length).toBe(2);
    expect(new Set(sales.map((sale) => sale.sale_id)).size).toBe(1);
  });

  it("holds more wei than a uint256 can", async () => {
    const most = (2n ** 256n - 1n).toString();
    const rich = Array.from({ length: 12 }, () => to(alice, { ...wei(0, carol), amount: most }));
    await appendEvents(database.db, [
      fulfilled(place(first, 0, 0), alice, bob, [nft(apes, 7)], rich),
    ]);
    await project(database.db, [target]);

    expect(await readSales()).toMatchObject([{ total_wei: 12n * BigInt(most) }]);
  });

  it("is the same whatever the windows, the order of arrival and the reorgs on the way", async () => {
    await fc.assert(
      fc
        .asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
          const late: ChainEvent[] = [];
          for (const [index, each] of steps.entries()) {
            late.push(...(await take(each, index * 32)));
          }
          await appendEvents(database.db, late);
          await project(database.db, [target], 5);
          await project(database.db, [
            await createProjection(database.db, projection, "sales_shadow"),
          ]);

          expect(await dumpAll("sales")).toEqual(await dumpAll("sales_shadow"));
          expect((await dumpAll("sales")).slice(1, 5)).toEqual(await recount("sales"));
        })
        .beforeEach(async () => {
          await startOver();
          target = await createProjection(database.db, projection);
        }),
      { numRuns: runsOf(25, 5) },
    );
  });
});
