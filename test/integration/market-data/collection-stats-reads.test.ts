import type { Address } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { floorSnapshotted, snapshotMs } from "#projections/collections/floors.ts";
import { appendObservations } from "#projections/log/append.ts";
import { contractMetadataFetched } from "#projections/metadata/facts.ts";
import { priceTicked } from "#projections/prices/coin-prices.ts";
import { givenListing, ticked } from "#test/support/orders/order-facts.ts";
import {
  active,
  idOf,
  type OrderPredicate,
  type OrderReadsFixture,
  on,
  openOrderReads,
} from "#test/support/orders/order-reads-fixture.ts";
import { givenPartnerOrder, partnerListingOf, seen } from "#test/support/orders/partner-orders.ts";
import {
  bids,
  earlyEnd,
  listings,
  nfts,
  openedAt,
  type SeededOrder,
  special,
} from "#test/support/orders/seeded-orders.ts";

let book: OrderReadsFixture;
const takenAtMs = Math.floor((Number(openedAt) * 1000) / snapshotMs) * snapshotMs;
const priceE8 = 2_345_67000000n;

beforeAll(async () => {
  book = await openOrderReads();
  const dayAgo = {
    takenAtMs: takenAtMs - 86_400_000,
    floors: new Map([
      [nfts.punks.address, 10n ** 16n],
      [nfts.kinSecond.address, 4n * 10n ** 16n],
    ]),
  };
  const minuteMs = Math.floor(Number(openedAt) / 60) * 60_000;
  await appendObservations(book.db, [
    floorSnapshotted({ chainId: 1, ...dayAgo, base: null }),
    floorSnapshotted({ chainId: 1, takenAtMs, floors: dayAgo.floors, base: dayAgo }),
    priceTicked({ coin: "ethereum", minuteMs, priceE8, sources: [] }),
    priceTicked({
      ...({ coin: "ethereum", sources: [] } as const),
      minuteMs: minuteMs + 3_600_000,
      priceE8: 2n * priceE8,
    }),
  ]);
  await book.catchUp();
});
afterAll(() => book?.close());

const Floor = z.looseObject({
  priceWei: z.string(),
  askId: z.string(),
  usd: z.number().nullable(),
});
const Stats = z.looseObject({
  listed: z.number(),
  supply: z.number(),
  holders: z.number(),
  floor: Floor.nullable(),
  floorBuyable: Floor.nullable(),
  bestOffer: z.looseObject({ bidId: z.string(), sellerNetWei: z.string() }).nullable(),
  volume: z.record(z.string(), z.number()),
  sales: z.record(z.string(), z.number()),
  change: z.record(z.string(), z.number().nullable()),
});
const Row = z.looseObject({ slug: z.string(), stats: Stats });
type Row = z.output<typeof Row>;

const one = async (slug: string) => Row.parse(await book.one(`/v1/collections/${slug}`));

const families: [string, OrderPredicate][] = [
  ["punks", on(nfts.punks.address)],
  ["kin", on(nfts.kin.address, nfts.kinSecond.address)],
  ["editions", on(nfts.editions.address)],
];

function best(
  from: readonly SeededOrder[],
  keep: OrderPredicate,
  now: bigint,
  sign: bigint,
  value: (order: SeededOrder) => bigint = ({ priceWei }) => priceWei,
) {
  return from
    .filter((order) => active(order) && keep(order) && order.endsAt > now)
    .sort((a, b) => Number(sign * (value(a) - value(b))))[0];
}

describe("GET /v1/collections/{collection}", () => {
  it.each(families)(
    "tells the cheapest listing, the best bid and the tokens listed of %s",
    async (slug, keep) => {
      for (const now of [openedAt, earlyEnd - 1n, earlyEnd]) {
        book.at(now);
        const { stats } = await one(slug);
        const floor = best(listings, keep, now, 1n);
        expect(stats.floor).toMatchObject({
          askId: floor && idOf(floor),
          priceWei: String(floor?.priceWei),
          marketplace: floor?.marketplace,
          buyableViaApi: floor?.isBuyable,
        });
        const buyable = best(listings, (one) => keep(one) && one.isBuyable, now, 1n);
        expect(stats.floorBuyable).toMatchObject({
          ...{ askId: buyable && idOf(buyable), priceWei: String(buyable?.priceWei) },
          ...{ marketplace: buyable?.marketplace, buyableViaApi: true },
        });
        const offers = bids.filter(({ tokenId }) => tokenId === null);
        const offer = best(offers, keep, now, -1n, ({ order }) => order.terms.sellerNetWei);
        expect(stats.bestOffer?.bidId).toBe(offer && idOf(offer));
        const listed = listings.filter(
          (order) => active(order) && keep(order) && order.endsAt > now,
        );
        const tokens = listed.map(({ contract, tokenId }) => `${contract.address} ${tokenId}`);
        expect(stats.listed).toBe(new Set(tokens).size);
      }
    },
  );

  it("shows the currency of the floor's own listing, and units beyond 2^53 exactly", async () => {
    const late = await openOrderReads();
    const units = 2n ** 60n + 1n;
    const terms = {
      maker: special.cheaper.maker,
      unitPriceWei: 20_000n,
      endTime: earlyEnd,
    } as const;
    const wrapped = givenPartnerOrder({
      ...{ ...terms, contract: nfts.punks.address, tokenId: 1000n, isWrapped: true },
    });
    const many = givenListing({
      ...{ ...terms, contract: nfts.editions.address, tokenId: 990n, standard: "erc1155" },
      quantity: units,
    });
    try {
      late.at(openedAt);
      await appendObservations(late.db, [
        seen(partnerListingOf("magiceden", wrapped)),
        seen(partnerListingOf("opensea", many)),
      ]);
      await late.catchUp();
      const { stats } = Row.parse(await late.one("/v1/collections/punks"));
      expect(stats.floor).toMatchObject({ priceWei: "20000", currency: "WETH" });
      expect(await late.one(`/v1/listings/${many.orderHash}`)).toMatchObject({
        quantity: Number(units),
        quantityExact: String(units),
        quantityRemaining: Number(units),
        quantityRemainingExact: String(units),
        quantityFilledExact: "0",
      });
    } finally {
      await late.close();
    }
  });

  it("shows the floor in USD at the last price, and its change in a day", async () => {
    book.at(openedAt);
    const { stats } = await one("punks");
    const wei = BigInt(stats.floor?.priceWei ?? 0);
    expect(stats.floor?.usd).toBeCloseTo((Number(wei) / 1e18) * (Number(priceE8) / 1e8), 6);
    expect(stats.change).toEqual({
      "24h": Number(((wei - 10n ** 16n) * 1_000_000n) / 10n ** 16n) / 1e6,
      "7d": null,
      "30d": null,
    });
    const kin = (await one("kin")).stats;
    const kinWei = BigInt(kin.floor?.priceWei ?? 0);
    expect(kin.change["24h"]).toBeCloseTo(Number(kinWei) / 4e16 - 1, 6);
    expect((await one("editions")).stats.change["24h"]).toBeNull();
  });
});

const keys: Record<string, (row: Row) => number | null> = {
  volume: ({ stats }) => stats.volume["7d"] ?? null,
  sales: ({ stats }) => stats.sales["7d"] ?? null,
  floor: ({ stats }) => (stats.floor === null ? null : Number(stats.floor.priceWei)),
  change: ({ stats }) => stats.change["24h"] ?? null,
  listed: ({ stats }) => stats.listed,
  supply: ({ stats }) => stats.supply,
  holders: ({ stats }) => stats.holders,
};
const sorts = Object.keys(keys).flatMap((sort) =>
  ["asc", "desc"].map((towards) => [sort, towards] as const),
);

describe("GET /v1/collections", () => {
  it.each(sorts)(
    "by %s %s lists every one in order, what is unknown last, by pages as by cursors",
    async (sort, direction) => {
      book.at(openedAt);
      const period = sort === "change" ? "24h" : "7d";
      for (const more of ["", "&verified=true", "&search=n"]) {
        const path = `/v1/collections?sort=${sort}&direction=${direction}&period=${period}&per_page=1${more}`;
        const rows = await walk(path, (_page, cursor) =>
          cursor === null ? path : `${path}&cursor=${cursor}`,
        );
        expect(await walk(path, (page) => `${path}&page=${page}`)).toEqual(rows);
        const values = rows.map((row) => (keys[sort] ?? (() => 0))(Row.parse(row)));
        const known = values.filter((value) => value !== null);
        const sorted = known.toSorted((a, b) => (direction === "asc" ? a - b : b - a));
        expect(values).toEqual([...sorted, ...values.filter((value) => value === null)]);
      }
    },
  );

  it("agrees with each collection alone at any time, whatever was asked before", async () => {
    for (const now of [openedAt, openedAt + 3_600n, earlyEnd - 1n, earlyEnd, openedAt]) {
      book.at(now);
      for (const period of ["24h", "7d"]) {
        const { data } = await page(`/v1/collections?period=${period}&sort=holders`);
        for (const row of data.map((one) => Row.parse(one))) {
          const { stats } = await one(row.slug);
          expect(row.stats, `${row.slug} at ${now}`).toEqual({
            ...stats,
            volume: { [period]: stats.volume[period] },
            sales: { [period]: stats.sales[period] },
            ...Object.fromEntries(
              [
                "volumeWei",
                "volumeUsd",
                "volumeUsdShare",
                "washVolume",
                "washVolumeWei",
                "washSales",
              ].map((name) => [
                name,
                { [period]: z.record(z.string(), z.unknown()).parse(stats[name])[period] },
              ]),
            ),
          });
        }
      }
    }
  });

  it("leaves out listings that have ended since the last clock tick, as the next tick does", async () => {
    book.at(earlyEnd);
    const before = (await page("/v1/collections?sort=listed")).data;
    await appendObservations(book.db, [ticked(earlyEnd)]);
    await book.catchUp();
    const after = (await page("/v1/collections?sort=listed")).data;
    const bySlug = (rows: unknown[]) =>
      rows.map((row) => Row.parse(row)).toSorted((a, b) => a.slug.localeCompare(b.slug));
    expect(bySlug(after).map(({ stats }) => ({ ...stats, change: null }))).toEqual(
      bySlug(before).map(({ stats }) => ({ ...stats, change: null })),
    );
  });
});

const Page = z.object({
  data: z.array(z.unknown()),
  meta: z.looseObject({ total: z.number(), next_cursor: z.string().nullable() }),
});

async function page(path: string) {
  return Page.parse(await book.answer(path));
}

async function walk(path: string, next: (page: number, cursor: string | null) => string) {
  const rows: unknown[] = [];
  let cursor: string | null = null;
  for (let number = 1; ; number += 1) {
    const { data, meta } = await page(next(number, cursor));
    rows.push(...data);
    cursor = meta.next_cursor;
    if (cursor === null) {
      expect(rows.length, path).toBe(meta.total);
      return rows;
    }
  }
}

describe("the metadata of a collection", () => {
  const stateOf = async (slug: string) => (await book.one(`/v1/collections/${slug}`)).metadata;

  it("tells whether its document was read, and what of it was not", async () => {
    const recordedAt = new Date(Number(openedAt) * 1_000);
    const of = (contract: Address) => ({ chainId: 1, contract, recordedAt });
    const nothing = {
      description: null,
      banner: null,
      website: null,
      twitter: null,
      discord: null,
    };
    const pending = { status: "pending", updatedAt: null, issue: null };
    expect(await stateOf("punks")).toEqual(pending);
    const issue = "image left out: longer than 2048 characters";
    await appendObservations(book.db, [
      contractMetadataFetched(of(nfts.punks.address), "https://a.example", {
        ...{ ...nothing, name: "Punks", image: null, issue },
      }),
      contractMetadataFetched(of(nfts.kin.address), "https://a.example", {
        error: "10.0.0.7:8080: HTTP 404",
        attempt: 1,
      }),
    ]);
    await book.catchUp();
    const updatedAt = recordedAt.toISOString();
    expect(await stateOf("punks")).toEqual({ status: "ok", updatedAt, issue });
    const failed = { status: "failed", updatedAt, issue: "the host answered HTTP 404" };
    expect(await stateOf("kin")).toEqual(failed);
    expect(await stateOf("editions")).toEqual(pending);
  });
});
