import fc from "fast-check";
import { sql } from "kysely";
import { type Hex, keccak256, stringToHex } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { activityProjection as activity } from "#projections/activity/activity.ts";
import { type ActivityKey, readActivity } from "#projections/activity/read-activity.ts";
import { type ActivityFilter, eventsWhere } from "#projections/activity/read-event-scans.ts";
import { allProjections, projectionNames } from "#projections/all.ts";
import { dropTarget, type Target } from "#projections/engine/checkpoint.ts";
import { appendObservations } from "#projections/log/append.ts";
import { kindList } from "#projections/log/fact-kinds.ts";
import { bytea } from "#projections/log/sql-values.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { salesProjection } from "#projections/sales/sales.ts";
import {
  addressOf,
  appendEvents,
  block,
  type ChainEvent,
  createProjection,
  dumpTable,
  project,
  setBlocks,
  zeroAddress,
} from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { cancelled, givenBid, givenListing } from "#test/support/orders/order-facts.ts";
import { partnerListingOf, seen } from "#test/support/orders/partner-orders.ts";
import { runsOf } from "#test/support/thoroughness.ts";

const sales = salesProjection({ feeRecipient: addressOf(99) });
const collection = addressOf(1);
const exchange = "0x0000000000000068f116a894984e2db1123eb395";
const dead = "0x000000000000000000000000000000000000dead";
const [alice, bob] = [addressOf(50), addressOf(51)];
const orderHash = (name: string): Hex => keccak256(stringToHex(name));

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());
afterEach(() => startOver());

async function startOver() {
  for (const name of [...projectionNames, "activity_shadow"]) {
    await dropTarget(database.db, schemaOf(name));
  }
  await sql`truncate log.fact`.execute(database.db);
  await sql`update log.head set position = 0`.execute(database.db);
}

type Item = { itemType: number; token: string; identifier: string; amount: string };

/** A listing of a token filled for ether: the fill and the token's transfer, in one transaction. */
function trade(
  where: ChainEvent["block"],
  index: number,
  tokenId: bigint,
  transactionIndex = index,
): ChainEvent[] {
  const token: Item = {
    itemType: 2,
    token: collection,
    identifier: tokenId.toString(),
    amount: "1",
  };
  const ether: Item = { itemType: 0, token: zeroAddress, identifier: "0", amount: "1000" };
  const fulfilled: ChainEvent = {
    kind: "order_fulfilled",
    block: where,
    logIndex: index * 10,
    transactionIndex,
    contract: exchange,
    from: alice,
    to: bob,
    orderHash: orderHash(`${index} of ${tokenId}`),
    payload: {
      zone: zeroAddress,
      offer: [token],
      consideration: [{ ...ether, recipient: alice }],
      sender: bob,
      target: exchange,
      calldataTail: "0x",
    },
  };
  const moved: ChainEvent = {
    kind: "erc721_transfer",
    block: where,
    logIndex: index * 10 + 1,
    transactionIndex,
    contract: collection,
    tokenId,
    from: alice,
    to: bob,
  };
  return [fulfilled, moved];
}

function cancel(where: ChainEvent["block"], logIndex: number): ChainEvent {
  return {
    kind: "order_cancelled",
    block: where,
    logIndex,
    contract: exchange,
    from: alice,
    orderHash: orderHash(`cancelled ${logIndex}`),
    payload: { zone: zeroAddress },
  };
}

describe("activity", () => {
  it("puts a cancel beside the token of its order, taken in or shown by a partner, also later", async () => {
    const terms = { maker: alice, contract: collection, unitPriceWei: 5_000n } as const;
    const [own, shown, late] = [1n, 2n, 3n].map((tokenId) => givenListing({ ...terms, tokenId }));
    if (own === undefined || shown === undefined || late === undefined) throw new Error("no order");
    const bid = givenBid(terms);
    const sightings = [shown, late].map((order) => seen(partnerListingOf("opensea", order)));
    await appendObservations(database.db, [own.submitted, bid.submitted, ...sightings.slice(0, 1)]);
    const at = block(1, 10);
    const cancels = [own, shown, bid, late].map((order, log) => cancelled(order, { at, log }));
    await appendEvents(database.db, cancels);
    await project(database.db, [await createProjection(database.db, sales)]);
    const live = await createProjection(database.db, activity);
    await project(database.db, [live]);
    await appendObservations(database.db, sightings.slice(1));
    await project(database.db, [live]);
    const expected = [
      { contract: collection, tokenId: 1n },
      { contract: collection, tokenId: 2n },
      { contract: collection, tokenId: null },
      { contract: collection, tokenId: 3n },
    ];
    await project(database.db, [await createProjection(database.db, activity, "activity_shadow")]);
    for (const schema of ["activity", "activity_shadow"]) {
      const { rows } = await sql`
        select k.address as contract, e.token_id as "tokenId"
        from ${sql.table(`${schema}.cancel`)} e left join log.contract k using (contract_id)
        order by e.log_index`.execute(database.db);
      expect(rows).toEqual(expected);
    }
  });

  it("is the same applied as events arrive, in any order and with reorgs, and in bulk", async () => {
    const blocks = [1, 2, 3].flatMap((number) => [block(1, number), block(1, number, "fork")]);
    const events = blocks.flatMap((where, index) => [
      ...trade(where, 1, BigInt(index)),
      ...trade(where, 2, BigInt(index + 100)),
      cancel(where, 90 + index),
    ]);
    const places = events.map((_, index) => index);
    await appendEvents(database.db, events);

    const arrival = fc.shuffledSubarray(places, { minLength: places.length });
    const step = fc.tuple(fc.boolean(), fc.nat({ max: blocks.length - 1 }));
    await fc.assert(
      fc.asyncProperty(arrival, fc.array(step, { maxLength: 8 }), async (order, states) => {
        await startOver();
        const arriving = order.flatMap((index) => events.slice(index, index + 1));
        const live = [
          await createProjection(database.db, sales),
          await createProjection(database.db, activity),
        ];
        const half = Math.floor(arriving.length / 2);
        await appendEvents(database.db, arriving.slice(0, half));
        await project(database.db, live, 5);
        for (const [retract, index] of states) {
          const where = blocks.slice(index, index + 1);
          await setBlocks(database.db, retract ? "block_retracted" : "block_readopted", where);
          await project(database.db, live);
        }
        await appendEvents(database.db, arriving.slice(half));
        await project(database.db, live, 3);

        const shadow = await createProjection(database.db, activity, "activity_shadow");
        await project(database.db, [shadow]);
        const rows = await dumpTable(database.db, "activity.cancel");
        expect(await dumpTable(database.db, "activity_shadow.cancel")).toEqual(rows);
        expect(await countEvents()).toEqual(await countFacts());
      }),
      { numRuns: runsOf(8, 2), endOnFailure: true },
    );
  });

  it("is of the position that the projection has reached, whatever the log has beyond it", async () => {
    const [first, second] = [block(1, 1), block(1, 2)];
    await appendEvents(database.db, trade(first, 1, 1n));
    const live = [
      await createProjection(database.db, sales),
      await createProjection(database.db, activity),
    ];
    await project(database.db, live);
    const reached = await countEvents();
    await appendEvents(database.db, trade(second, 1, 2n));
    await setBlocks(database.db, "block_retracted", [first]);

    expect(await countEvents()).toEqual(reached);
    await project(database.db, live);
    expect(await countEvents()).toEqual(await countFacts());
    expect(await countEvents()).not.toEqual(reached);
  });

  it("is walked in the order of the chain, whatever the order of a transaction's sales", async () => {
    const fills = [1, 2, 3].flatMap((number) =>
      [1, 2, 3, 4, 5, 6].map((index) => ({ number, index, tokenId: BigInt(index % 4) })),
    );
    await appendEvents(database.db, [
      ...fills.flatMap(({ number, index, tokenId }) =>
        trade(block(1, number), index, tokenId, Math.ceil(index / 3)),
      ),
      cancel(block(1, 2), 95),
    ]);
    const targets: Target[] = [];
    for (const one of allProjections({ feeRecipient: addressOf(99) }))
      targets.push(await createProjection(database.db, one));
    await project(database.db, targets);
    // As where several exchanges trade in one transaction: their sales are numbered one exchange after the other.
    await sql`update ${sql.table(`${schemaOf("sales")}.sale`)} set ordinal = 9 - ordinal`.execute(
      database.db,
    );
    const { rows: contracts } = await sql<{ contract_id: number }>`
      select contract_id from log.contract where address = ${bytea(collection)}`.execute(
      database.db,
    );
    const contractIds = contracts.map((row) => row.contract_id);
    const all = { chainId: 1, types: null, contractIds: null, tokenId: null, wallet: null };
    for (const [filter, expected] of [
      [all, 18 + 18 + 1],
      [{ ...all, types: ["sale"] }, 18],
      [{ ...all, contractIds }, 18 + 18],
      [{ ...all, contractIds, tokenId: 1n }, 6 + 6],
      [{ ...all, wallet: bob }, 18 + 18],
      [{ ...all, wallet: alice, types: ["sale", "cancel"] }, 18 + 1],
    ] as const) {
      const whole = await walk(filter, 100);
      expect(whole).toHaveLength(expected);
      expect(whole).toEqual([...whole].sort((a, b) => (a < b ? 1 : -1)));
      for (const limit of [1, 2, 5]) expect(await walk(filter, limit)).toEqual(whole);
    }
  });

  it("names mints, burns, ranges and cancels, and repeats the sale's figures", async () => {
    const [where, transfer] = [block(1, 7), { block: block(1, 7), contract: collection }];
    await appendEvents(database.db, [
      {
        ...transfer,
        kind: "erc721_transfer",
        logIndex: 1,
        tokenId: 1n,
        from: zeroAddress,
        to: alice,
      },
      { ...transfer, kind: "erc721_transfer", logIndex: 2, tokenId: 1n, from: alice, to: dead },
      {
        ...transfer,
        kind: "erc1155_transfer",
        logIndex: 3,
        subIndex: 0,
        tokenId: 5n,
        amount: 3n,
        from: alice,
        to: zeroAddress,
      },
      {
        ...transfer,
        kind: "erc1155_transfer",
        logIndex: 3,
        subIndex: 1,
        tokenId: 6n,
        amount: 4n,
        from: alice,
        to: bob,
      },
      {
        ...transfer,
        kind: "erc721_consecutive_transfer",
        logIndex: 4,
        tokenId: 10n,
        amount: 5n,
        from: zeroAddress,
        to: bob,
      },
      cancel(where, 5),
      {
        kind: "counter_incremented",
        block: where,
        logIndex: 6,
        contract: exchange,
        from: bob,
        amount: 9n,
      },
      ...trade(where, 7, 77n),
    ]);
    const targets = [
      await createProjection(database.db, sales),
      await createProjection(database.db, activity),
    ];
    await project(database.db, targets);

    const { rows } = await sql`
      select e.log_index as log, e.sub_index as sub, e.type, e.token_id as token, e.quantity,
             e.from_address as from, e.to_address as to, e.price_wei as price, e.order_hash as order
      from (${eventsWhere(sql`true`)}) e order by e.block_id, e.log_index, e.sub_index`.execute(
      database.db,
    );
    const bare = { price: null, order: null };
    const unknown = { token: null, quantity: null, to: null, price: null };
    expect(rows).toEqual([
      {
        log: 1,
        sub: 0,
        type: "mint",
        token: 1n,
        quantity: 1n,
        from: zeroAddress,
        to: alice,
        ...bare,
      },
      { log: 2, sub: 0, type: "burn", token: 1n, quantity: 1n, from: alice, to: dead, ...bare },
      {
        log: 3,
        sub: 0,
        type: "burn",
        token: 5n,
        quantity: 3n,
        from: alice,
        to: zeroAddress,
        ...bare,
      },
      { log: 3, sub: 1, type: "transfer", token: 6n, quantity: 4n, from: alice, to: bob, ...bare },
      {
        log: 4,
        sub: 0,
        type: "mint",
        token: 10n,
        quantity: 5n,
        from: zeroAddress,
        to: bob,
        ...bare,
      },
      { log: 5, sub: 0, type: "cancel", ...unknown, from: alice, order: orderHash("cancelled 5") },
      { log: 6, sub: 0, type: "cancel", ...unknown, from: bob, order: null },
      {
        log: 70,
        sub: 0,
        type: "sale",
        token: 77n,
        quantity: 1n,
        from: alice,
        to: bob,
        price: 1000n,
        order: orderHash("7 of 77"),
      },
      {
        log: 71,
        sub: 0,
        type: "transfer",
        token: 77n,
        quantity: 1n,
        from: alice,
        to: bob,
        ...bare,
      },
    ]);
  });
});

/** Places of the events that a filter selects, page by page, as text that sorts like them. */
async function walk(filter: ActivityFilter, limit: number): Promise<string[]> {
  const places: string[] = [];
  let after: ActivityKey | null = null;
  do {
    const page: Awaited<ReturnType<typeof readActivity>> = await readActivity(database.db, filter, {
      limit,
      after,
      since: null,
    });
    for (const row of page.rows) {
      if (!("event" in row)) throw new Error("no orders were submitted");
      const { blockId, logIndex, subIndex, type } = row.event;
      const place = [blockId, logIndex, subIndex].map((part) => String(part).padStart(12, "0"));
      places.push([...place, type].join(" "));
    }
    after = page.next;
  } while (after !== null);
  return places;
}

/** What the log and the sales say there should be. */
async function countFacts(): Promise<unknown> {
  const { rows } = await sql`
    select counted.block_id, count(*) as events
    from (
      select block_id from log.fact where kind in ${kindList("erc721_transfer", "order_cancelled")}
      union all
      select block_id from sales.sale
    ) counted
    where counted.block_id not in (select block_id from log.retracted_blocks((select position from log.head)))
    group by 1 order by 1`.execute(database.db);
  return rows;
}

async function countEvents(): Promise<unknown> {
  const { rows } = await sql`
    select block_id, count(*) as events from (${eventsWhere(sql`true`)}) e group by 1 order by 1`.execute(
    database.db,
  );
  return rows;
}
