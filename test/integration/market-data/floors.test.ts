import fc from "fast-check";
import { sql } from "kysely";
import type { Address } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { snapshotFirstFloors, snapshotFloors } from "#jobs/collections/snapshot-floors.ts";
import {
  type ContractFloors,
  floorSnapshotted,
  floorsProjection,
  snapshotMs,
} from "#projections/collections/floors.ts";
import { dropTarget, targetOf } from "#projections/engine/checkpoint.ts";
import { appendObservations } from "#projections/log/append.ts";
import { kindLiteral } from "#projections/log/fact-kinds.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { createProjection, dumpTable, project } from "#test/support/database/given.ts";
import {
  active,
  type OrderReadsFixture,
  on,
  openOrderReads,
} from "#test/support/orders/order-reads-fixture.ts";
import { listings, nfts, openedAt } from "#test/support/orders/seeded-orders.ts";

const dayMs = 86_400_000;
const nowMs = Number(openedAt) * 1000;
const lastMs = Math.floor(nowMs / snapshotMs) * snapshotMs;
const [kin, kinSecond, punks] = [nfts.kin.address, nfts.kinSecond.address, nfts.punks.address];

let book: OrderReadsFixture;
beforeAll(async () => {
  book = await openOrderReads();
  book.at(openedAt);
});
afterAll(() => book?.close());

type Snapshot = { takenAtMs: number; floors: ContractFloors };

/** Half a dozen a day over 33 days, at times none for a day; prices that come, change, stay and go. */
const history: fc.Arbitrary<Snapshot[]> = fc
  .array(
    fc.record({
      gapSteps: fc.oneof(
        { weight: 9, arbitrary: fc.integer({ min: 1, max: 90 }) },
        fc.integer({ min: 288, max: 600 }),
      ),
      prices: fc.array(fc.option(fc.bigInt({ min: 1n, max: 3n })), { minLength: 3, maxLength: 3 }),
    }),
    { minLength: 120, maxLength: 220 },
  )
  .map((steps) => {
    let takenAtMs = lastMs;
    return steps
      .map(({ gapSteps, prices }) => {
        const floors = new Map<Address, bigint>();
        for (const [place, price] of prices.entries()) {
          const contract = [kin, kinSecond, punks][place];
          if (price !== null && contract !== undefined) floors.set(contract, price * 10n ** 17n);
        }
        const snapshot = { takenAtMs, floors };
        takenAtMs -= gapSteps * snapshotMs;
        return snapshot;
      })
      .filter((snapshot) => snapshot.takenAtMs > nowMs - 33 * dayMs)
      .reverse();
  });

async function tell(snapshots: readonly Snapshot[]): Promise<void> {
  await sql`delete from log.fact where kind = ${kindLiteral("floor_snapshotted")}`.execute(book.db);
  await sql`update log.head set position = (select max(position) from log.fact)`.execute(book.db);
  await appendObservations(
    book.db,
    snapshots.map((one, place) =>
      floorSnapshotted({ chainId: 1, ...one, base: snapshots[place - 1] ?? null }),
    ),
  );
}

async function derive(windowFacts?: number): Promise<string[][]> {
  await dropTarget(book.db, schemaOf("floors"));
  await project(book.db, [await createProjection(book.db, floorsProjection)], windowFacts);
  return Promise.all(["snapshot", "floor"].map((table) => dumpTable(book.db, `floors.${table}`)));
}

/** Bucket by bucket, from the snapshots themselves. */
function expectedCandles(
  snapshots: readonly Snapshot[],
  { contracts, days, lengthMs }: { contracts: Address[]; days: number; lengthMs: number },
) {
  const from = Math.floor((nowMs - days * dayMs) / lengthMs) * lengthMs;
  const candles = [];
  for (let start = from; start <= nowMs; start += lengthMs) {
    const seen = snapshots
      .filter(({ takenAtMs }) => takenAtMs >= start && takenAtMs < start + lengthMs)
      .flatMap(({ floors }) => {
        const prices = contracts.flatMap((contract) => floors.get(contract) ?? []);
        return prices.length === 0 ? [] : [Math.min(...prices.map(Number)) / 1e18];
      });
    const [o, c] = [seen[0], seen.at(-1)];
    if (o === undefined || c === undefined) continue;
    candles.push({
      t: new Date(start).toISOString(),
      o,
      h: Math.max(...seen),
      l: Math.min(...seen),
      c,
    });
  }
  return candles;
}

const hourMs = 3_600_000;
const windows: [string, number, string, number][] = [
  ["", 7, "4h", 4 * hourMs],
  ["days=1", 1, "1h", hourMs],
  ["days=2", 2, "1h", hourMs],
  ["days=3", 3, "4h", 4 * hourMs],
  ["days=30", 30, "4h", 4 * hourMs],
  ["days=30&interval=1d", 30, "1d", dayMs],
  ["days=30&interval=1h", 30, "1h", hourMs],
];

const Candle = z.looseObject({ o: z.number(), h: z.number(), l: z.number(), c: z.number() });
const History = z.looseObject({
  currency: z.string(),
  interval: z.string(),
  days: z.number(),
  candles: z.array(Candle),
  summary: z
    .looseObject({ first: z.number(), last: z.number(), high: z.number(), low: z.number() })
    .nullable(),
});

describe("GET /v1/collections/{collection}/floor-history", () => {
  it.each(windows)(
    "answers ?%s from the lower floor of the family, bucket by bucket",
    async (query, days, interval, lengthMs) => {
      const snapshots = fc.sample(history, { numRuns: 1, seed: days + lengthMs })[0] ?? [];
      await tell(snapshots);
      await derive();
      const data = History.parse(await book.one(`/v1/collections/kin/floor-history?${query}`));
      expect(data).toMatchObject({ currency: "ETH", interval, days, collection: { slug: "kin" } });
      const candles = expectedCandles(snapshots, { contracts: [kin, kinSecond], days, lengthMs });
      expect(candles.length).toBeGreaterThan(0);
      expect(data.candles).toEqual(candles);
      expect(data.summary).toMatchObject({
        first: candles[0]?.o,
        last: candles.at(-1)?.c,
        high: Math.max(...candles.map(({ h }) => h)),
        low: Math.min(...candles.map(({ l }) => l)),
      });
    },
  );

  it.each([kin, kinSecond])("of the address %s is of that contract alone", async (address) => {
    const snapshots = fc.sample(history, { numRuns: 1, seed: 3 })[0] ?? [];
    await tell(snapshots);
    await derive();
    const path = `/v1/collections/${address}/floor-history?days=30&interval=1d`;
    const { candles } = History.parse(await book.one(path));
    const asked = { contracts: [address], days: 30, lengthMs: dayMs };
    expect(candles).toEqual(expectedCandles(snapshots, asked));
    expect(candles.length).toBeGreaterThan(0);
  });

  it("has no candles and no summary without listings", async () => {
    const data = await book.one("/v1/collections/apes/floor-history?chainId=33139");
    expect(data).toMatchObject({ currency: "APE", candles: [], summary: null });
  });

  it("links to the collection's page", async () => {
    const { collection } = await book.one("/v1/collections/kin/floor-history");
    expect(collection).toMatchObject({
      urls: { collection: expect.stringMatching(/\/collections\/kin\?chainId=1$/) },
    });
  });

  it("is cacheable for a minute", async () => {
    const { headers } = await book.raw("/v1/collections/kin/floor-history");
    expect(headers.get("cache-control")).toContain("max-age=60");
  });

  it.each(["days=0", "days=31", "days=1.5", "days=x", "interval=2h"])(
    "422 invalid_parameters for %s",
    async (query) => {
      await book.expectRejection(
        `/v1/collections/kin/floor-history?${query}`,
        422,
        "invalid_parameters",
      );
    },
  );
  it("404 not_found for an unknown collection", async () => {
    await book.expectRejection("/v1/collections/none/floor-history", 404, "not_found");
  });
});

describe("floors", () => {
  it("are the same fact by fact, in windows of seven, and at once", async () => {
    const snapshots = fc.sample(history, { numRuns: 1, seed: 7 })[0] ?? [];
    await tell(snapshots);
    const states = [await derive(1), await derive(7), await derive()];
    expect(states[1]).toEqual(states[0]);
    expect(states[2]).toEqual(states[0]);
    const oldest = await sql<{ at: Date }>`select min(taken_at) as at from floors.snapshot`.execute(
      book.db,
    );
    expect(oldest.rows[0]?.at.getTime()).toBeGreaterThanOrEqual(lastMs - 31 * dayMs);
    expect(snapshots[0]?.takenAtMs).toBeLessThan(lastMs - 31 * dayMs);
  });

  it("ignore a snapshot whose base is not the last one", async () => {
    const at = (steps: number, wei: bigint) => ({
      takenAtMs: lastMs - steps * snapshotMs,
      floors: new Map([[kin, wei]]),
    });
    const [first, second, late, third] = [at(9, 1n), at(5, 2n), at(7, 3n), at(2, 4n)];
    await tell([first, second]);
    await appendObservations(book.db, [
      floorSnapshotted({ chainId: 1, ...late, base: first }),
      floorSnapshotted({ chainId: 1, ...third, base: first }),
    ]);
    await derive();
    const { rows } = await sql<{
      at: Date;
    }>`select taken_at as at from floors.snapshot order by 1`.execute(book.db);
    expect(rows.map(({ at }) => at.getTime())).toEqual([first.takenAtMs, second.takenAtMs]);
  });
});

describe("a snapshot", () => {
  const recorded = async () => {
    const { rows } = await sql<{ at: Date; floors: Record<Address, string> }>`
      select recorded_at as at, payload -> 'floors' as floors from log.fact where kind = ${kindLiteral("floor_snapshotted")} order by position`.execute(
      book.db,
    );
    return rows;
  };

  it("is one fact per time, whoever takes it, with the floors that changed", async () => {
    await tell([]);
    await derive();
    const cheapest = (contract: Address) =>
      listings
        .filter(
          (order) => active(order) && on(contract)(order) && order.endsAt > BigInt(lastMs / 1000),
        )
        .reduce((least, { priceWei }) => (least === 0n || priceWei < least ? priceWei : least), 0n);
    await Promise.all([snapshotFloors(book.db, 1, lastMs), snapshotFloors(book.db, 1, lastMs)]);
    const [first, ...others] = await recorded();
    expect(others).toEqual([]);
    expect(first?.at.getTime()).toBe(lastMs);
    const told = [kin, kinSecond, punks, nfts.editions.address].map((one) => [
      one,
      String(cheapest(one)),
    ]);
    expect(first?.floors).toEqual(Object.fromEntries(told));

    await project(book.db, [targetOf(floorsProjection)]);
    expect(await snapshotFloors(book.db, 1, lastMs)).toBe(true);
    await snapshotFloors(book.db, 1, lastMs + snapshotMs);
    const [, second, ...more] = await recorded();
    expect(more).toEqual([]);
    expect(second?.floors).toEqual({});
  });

  it("is also taken as soon as a chain without a floor has one, once", async () => {
    const empty = { takenAtMs: lastMs, floors: new Map() };
    await tell([empty]);
    await derive();
    const nowMs = lastMs + 61_500;
    await snapshotFirstFloors(book.db, 1, lastMs);
    await snapshotFirstFloors(book.db, 1, nowMs);
    await project(book.db, [targetOf(floorsProjection)]);
    await snapshotFirstFloors(book.db, 1, nowMs + 5_000);
    const taken = await recorded();
    expect(taken.map(({ at }) => at.getTime() - lastMs)).toEqual([0, 61_000]);
    expect(Object.keys(taken[1]?.floors ?? {})).toContain(kin);
    // The next one at full five minutes follows it.
    await snapshotFloors(book.db, 1, lastMs + snapshotMs);
    expect(await recorded()).toHaveLength(3);
  });

  it("waits until the tables it reads exist", async () => {
    await dropTarget(book.db, schemaOf("floors"));
    expect(await snapshotFloors(book.db, 1, lastMs)).toBe(false);
  });
});
