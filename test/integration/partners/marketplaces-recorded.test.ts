import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { env } from "node:process";
import fc from "fast-check";
import type { Hex } from "viem";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { parseMagicEdenEntry as readAsk } from "#jobs/partners/magiceden/listings.ts";
import { parseFulfillment } from "#jobs/partners/opensea/fulfillment.ts";
import { collectionOf, parseOpenSeaEntry } from "#jobs/partners/opensea/listings.ts";
import {
  CollectionResponse,
  FulfillmentResponse,
  ListingsResponse,
  OrdersResponse,
} from "#jobs/partners/opensea/response-schemas.ts";
import { isRejection } from "#projections/domain/rejection.ts";

const folder = join(
  env.REAL_DATA_DIR ?? join(import.meta.dirname, "../../../../shared/realdata"),
  "opensea",
);
const readRecorded = (name: string) => JSON.parse(readFileSync(join(folder, name), "utf8"));

const Collections = z.array(z.object({ status: z.number(), body: z.unknown() }));
const Orders = z.array(z.object({ body: z.unknown() }));
const Fulfillments = z.array(
  z.object({
    body: z.unknown(),
    zoneCheck: z
      .object({ expectedFulfiller: z.string(), expiration: z.number(), orderHash: z.string() })
      .optional(),
    request: z.unknown(),
  }),
);

const Published = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) });

const before = new Date("2023-11-21T00:00:00Z");
const later = new Date("2024-01-01T00:00:00Z");
const context = { chainId: 1, contract: null, creators: [], now: before } as const;

describe.runIf(existsSync(folder))("recorded answers of OpenSea", () => {
  it("tell of collections: slug, contracts, and fees of which its own are known", () => {
    const recorded = Collections.parse(readRecorded("collections.json"));
    expect(recorded.length).toBeGreaterThan(100);
    for (const { body } of recorded) {
      const { slug, fees } = collectionOf(CollectionResponse.parse(body), 1);
      expect(slug).not.toBe("");
      for (const { bps, isService } of fees) {
        expect(Number.isInteger(bps)).toBe(true);
        if (isService) expect([50, 100, 250]).toContain(bps);
      }
      expect(fees.some(({ isService }) => isService)).toBe(fees.length > 0);
    }
  });

  it("tell of listings whose hashes are those of their orders, of an exchange that is not traded on", () => {
    const [{ body } = { body: null }] = Orders.parse(
      readRecorded("orders_listings_xtransact.json"),
    );
    const { orders, next } = OrdersResponse.parse(body);
    expect(next).toBeNull();
    expect(orders).toHaveLength(4);
    const reasons = orders.map((order) => parseOpenSeaEntry(order, context));
    expect(reasons).toEqual(
      orders.map((order) => ({
        reason: "other_exchange",
        path: "protocol_data",
        concerns: z.object({ order_hash: z.string() }).parse(order).order_hash,
      })),
    );
  });

  it("tell of the same listings once they are for the exchange that is traded on", () => {
    const Told = z.object({ order_hash: z.string(), current_price: z.string() });
    for (const entry of movedListings()) {
      const told = Told.parse(entry);
      expect(parseOpenSeaEntry(entry, context)).toMatchObject({
        ...{ marketplace: "opensea", orderHash: told.order_hash, signature: null },
        ...{ standard: "erc721", tokenId: 5333n, quantity: 1n, currency: null },
        unitPriceWei: BigInt(told.current_price),
        fees: [{ unitWei: BigInt(told.current_price) / 200n, kind: "service" }],
      });
    }
    expect(
      movedListings().map((entry) => parseOpenSeaEntry(entry, { ...context, now: later })),
    ).toEqual(Array(4).fill(expect.objectContaining({ reason: "ended" })));
  });

  it("are of endpoints that its published document has", () => {
    const { paths } = Published.parse(
      readRecorded("opensea-openapi-ProjectOpenSea-api-types.json"),
    );
    const called = [
      ["get", "/api/v2/chain/{chain}/contract/{address}"],
      ["get", "/api/v2/collections/{slug}"],
      ["get", "/api/v2/listings/collection/{slug}/all"],
      ["get", "/api/v2/orders/chain/{chain}/protocol/{protocol_address}/{order_hash}"],
      ["post", "/api/v2/listings/fulfillment_data"],
      ["post", "/api/v2/orders/{chain}/{protocol}/listings"],
    ] as const;
    for (const [method, path] of called) expect(Object.keys(paths[path] ?? {})).toContain(method);
  });

  it("hand over orders for one fulfiller until the moment that the zone signed", () => {
    const [accepted] = Fulfillments.parse(readRecorded("fulfillment_data.json"));
    const { transaction } = FulfillmentResponse.parse(accepted?.body).fulfillment_data;
    const { orderHash, expectedFulfiller, expiration } = accepted?.zoneCheck ?? {};
    const asked = {
      orderHash: orderHash as Hex,
      counter: 0n,
      buyer: expectedFulfiller as Hex,
      units: null,
    };
    expect(parseFulfillment(transaction, 1, asked)).toMatchObject({
      to: "0x0000000000000068f116a894984e2db1123eb395",
      value: 0n,
      numerator: 1n,
      denominator: 1n,
      validUntil: new Date((expiration ?? 0) * 1_000),
    });
    const refused = [
      { ...asked, buyer: "0x0000000000000000000000000000000000000001" as const },
      { ...asked, counter: 1n },
    ].map((other) => parseFulfillment(transaction, 1, other));
    expect(refused.map((one) => isRejection(one) && one.rejected)).toEqual([
      "order_mismatch",
      "order_mismatch",
    ]);
    expect(parseFulfillment(transaction, 33139, asked)).toMatchObject({
      rejected: "order_mismatch",
    });
  });

  it("hand over basic orders, from which the order that was signed is made again", () => {
    const recorded = Fulfillments.parse(readRecorded("fulfillment_data.json"));
    const basic = recorded.slice(1);
    expect(basic).toHaveLength(2);
    const Request = z.object({ listing: z.object({ hash: z.string() }) });
    for (const { body, request } of basic) {
      const { transaction } = FulfillmentResponse.parse(body).fulfillment_data;
      expect(transaction.input_data.kind).toBe("basic");
      const hash = Request.safeParse(request).data?.listing.hash;
      if (hash === undefined) continue;
      const onChain = { ...transaction, chain: 1 };
      const asked = {
        orderHash: hash as Hex,
        counter: 0n,
        buyer: "0x0000000000000000000000000000000000000001",
        units: null,
      } as const;
      expect(parseFulfillment(onChain, 1, asked)).toMatchObject({
        value: 1_000_000_000_000_000n,
        extraData: "0x",
        validUntil: null,
        components: { orderType: 1, counter: 0n },
      });
    }
  });

  it("tell the same in the form that the other partner hands orders out in", () => {
    for (const entry of movedListings()) {
      const {
        marketplace: _,
        signature: __,
        fees: ___,
        ...listing
      } = taken(parseOpenSeaEntry(entry, context));
      expect(readAsk(asAsk(entry), context)).toMatchObject({
        marketplace: "magiceden",
        ...listing,
      });
    }
  });

  it("never make the reading of them throw, whatever is wrong with them", () => {
    const answers = [
      ...movedListings(),
      ...movedListings().map(asAsk),
      ...Fulfillments.parse(readRecorded("fulfillment_data.json")).map(({ body }) => body),
      ...Collections.parse(readRecorded("collections.json"))
        .slice(0, 5)
        .map(({ body }) => body),
    ];
    fc.assert(
      fc.property(fc.constantFrom(...answers), mutations, (answer, changes) => {
        const wrong = changes.reduce<unknown>(spoil, structuredClone(answer));
        parseOpenSeaEntry(wrong, context);
        readAsk(wrong, context);
        CollectionResponse.safeParse(wrong);
        ListingsResponse.safeParse(wrong);
        const parsed = FulfillmentResponse.safeParse(wrong).data?.fulfillment_data;
        const asked = { orderHash: `0x${"11".repeat(32)}`, counter: 0n, units: null } as const;
        const buyer = "0x0000000000000000000000000000000000000001";
        if (parsed) parseFulfillment(parsed.transaction, 1, { ...asked, buyer });
      }),
      { numRuns: 3_000 },
    );
  });
});

function taken(read: ReturnType<typeof parseOpenSeaEntry>) {
  if ("reason" in read) throw new Error(read.reason);
  return read;
}

/** Recorded orders are of an older exchange: the order itself does not say so. */
function movedListings(): unknown[] {
  const [{ body } = { body: null }] = Orders.parse(readRecorded("orders_listings_xtransact.json"));
  return OrdersResponse.parse(body).orders.map((order) => ({
    ...z.record(z.string(), z.unknown()).parse(order),
    protocol_address: "0x0000000000000068F116a894984e2DB1123eB395",
  }));
}

/** The same order in the form of the other partner, which is not recorded. */
function asAsk(entry: unknown): unknown {
  const { order_hash: id, protocol_data } = z
    .object({ order_hash: z.string(), protocol_data: z.object({ parameters: z.looseObject({}) }) })
    .parse(entry);
  const rawData = { ...protocol_data.parameters, signature: `0x${"11".repeat(64)}` };
  return { id, kind: "seaport-v1.6", side: "sell", status: "active", rawData };
}

const junk = fc.oneof(
  fc.constantFrom<unknown>(null, undefined, -1, 1.5, 1e300, "", "0x", "-1", [], {}, true),
  fc.constantFrom<unknown>("9".repeat(78), `0x${"f".repeat(64)}`, Number.NaN, "0x0g"),
  fc.string(),
  fc.double(),
);

/** Where to go wrong, and with what: at each object the step picks a member. */
const mutations = fc.array(
  fc.record({ steps: fc.array(fc.nat(50), { minLength: 1, maxLength: 9 }), value: junk }),
  { minLength: 1, maxLength: 3 },
);

function spoil(
  value: unknown,
  { steps: [step, ...more], value: wrong }: { steps: number[]; value: unknown },
): unknown {
  if (step === undefined || typeof value !== "object" || value === null) return wrong;
  const names = Object.keys(value);
  const name = names[step % (names.length || 1)];
  if (name === undefined) return wrong;
  const members: Record<string, unknown> = Object.fromEntries(Object.entries(value));
  const changed = { ...members, [name]: spoil(members[name], { steps: more, value: wrong }) };
  return Array.isArray(value) ? Object.values(changed) : changed;
}
