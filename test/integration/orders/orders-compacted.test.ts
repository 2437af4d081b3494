import { sql } from "kysely";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { seaportAddresses } from "#abis/deployments.ts";
import { wrappedNative } from "#chains/index.ts";
import { deriveInBulk } from "#projections/engine/bulk.ts";
import { dropTarget } from "#projections/engine/checkpoint.ts";
import { bidsProjection } from "#projections/orders/bids.ts";
import { compactionDelaySeconds, readNextBoundary } from "#projections/orders/clock.ts";
import { listingsProjection } from "#projections/orders/listings.ts";
import { readAcceptedOrders } from "#projections/orders/read-signed-orders.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { dumpTable } from "#test/support/database/given.ts";
import { alice, at, bob, nft } from "#test/support/orders/listings-log.ts";
import {
  cancelled,
  filled,
  type GivenOrder,
  givenBid,
  givenListing,
  receivedAt,
  ticked,
} from "#test/support/orders/order-facts.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";

const book = await openProjectedLog([ownershipProjection, listingsProjection, bidsProjection]);
const { db, happens } = book;
afterAll(() => book.drop());
beforeEach(() => book.clear());

const endTime = receivedAt + 600n;
/** The first second at which orders of that end time are compacted: at a whole hour. */
const gone = (endTime / 3_600n + 1n) * 3_600n + BigInt(compactionDelaySeconds);

const tables = { listing: "listings.listing", bid: "bids.bid" } as const;
const made = {
  listing: (salt: bigint) =>
    givenListing({ maker: alice, contract: nft, tokenId: salt, endTime, salt }),
  bid: (salt: bigint) =>
    givenBid({ maker: bob, contract: nft, tokenId: salt, quantity: 2n, endTime, salt }),
};
const states = (side: keyof typeof tables, orders: readonly GivenOrder[]) =>
  Promise.all(orders.map((order) => book.state(tables[side], order)));

async function countedRows(side: keyof typeof tables): Promise<bigint> {
  const count = sql.table(side === "listing" ? "listings.count" : "bids.count");
  const { rows } = await sql<{ rows: bigint }>`
    select coalesce(sum(rows), 0)::bigint as rows from ${count}`.execute(db);
  return rows[0]?.rows ?? -1n;
}

describe.each(["listing", "bid"] as const)("an ended %s", (side) => {
  it("without a fill leaves the projection 30 days after its end time, and stays in the log", async () => {
    const [expires, ends, fills] = [made[side](1n), made[side](2n), made[side](3n)];
    const longer = { ...made[side](4n) };
    await happens(expires.submitted, ends.submitted, fills.submitted, longer.submitted);
    await happens(cancelled(ends, at(1)), filled(fills, 1n, at(1)), ticked(gone - 1n));
    const before = await states(side, [expires, ends]);
    await happens(ticked(gone));

    expect(before).toEqual(["expired", "cancelled"]);
    expect(await states(side, [expires, ends])).toEqual([undefined, undefined]);
    expect(await states(side, [fills])).toEqual([side === "listing" ? "filled" : "expired"]);
    expect(await countedRows(side)).toBe(1n);
    const stored = await readAcceptedOrders(db, 1, [expires.orderHash, ends.orderHash]);
    expect(stored.size).toBe(2);
  });

  it("is back when a fill becomes known later", async () => {
    const order = made[side](5n);
    await happens(order.submitted, ticked(gone));
    const before = await states(side, [order]);
    await happens(filled(order, 1n, at(2)));

    expect(before).toEqual([undefined]);
    expect(await states(side, [order])).toEqual([side === "listing" ? "filled" : "expired"]);
    expect(await countedRows(side)).toBe(1n);
  });

  it("makes the clock tick once for all orders of an hour", async () => {
    await happens(made[side](6n).submitted, made[side](7n).submitted, ticked(endTime));
    const next = await readNextBoundary(db, endTime);
    await happens(ticked(gone));

    expect(next).toBe(gone);
    expect(await readNextBoundary(db, gone)).toBeNull();
  });
});

it("a fill of a bid that has left takes from its maker's allowance for others, live as in a rebuild", async () => {
  const left = made.bid(8n);
  const other = givenBid({
    maker: bob,
    contract: nft,
    tokenId: 9n,
    quantity: 2n,
    endTime: gone + 600n,
    salt: 10n,
  });
  const needed = 2n * 10n ** 18n;
  const money = { contract: wrappedNative[1], amount: needed };
  const place = () => {
    const { at: where, log } = at(1);
    return { block: where, logIndex: log };
  };
  await happens(
    { ...money, ...place(), kind: "wrapped_deposit", to: bob },
    { ...money, ...place(), kind: "erc20_approval", from: bob, to: seaportAddresses["1.6"] },
    left.submitted,
    other.submitted,
    ticked(gone),
  );
  const before = await states("bid", [left, other]);
  await happens(filled(left, 1n, at(2)));

  expect(before).toEqual([undefined, "active"]);
  expect(await states("bid", [left, other])).toEqual([
    "expired",
    "inactive insufficient_allowance",
  ]);
  const schema = "bids_rebuilt";
  await deriveInBulk(db, { projection: bidsProjection, schema });
  const rebuilt = await dumpTable(db, `${schema}.bid`);
  await dropTarget(db, schema);
  expect(await dumpTable(db, tables.bid)).toEqual(rebuilt);
});
