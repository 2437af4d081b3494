import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { priceTicked } from "#projections/prices/coin-prices.ts";
import { openTokenReads, type TokenReads } from "#test/support/market-data/token-reads.ts";

// Rows of first pages are kept from one answer to the next while they are the same; those behind cursors are not.

let reads: TokenReads;
beforeAll(async () => {
  reads = await openTokenReads();
});
afterAll(() => reads.close());

const Page = z.object({
  data: z.array(z.unknown()),
  meta: z.looseObject({ next_cursor: z.string().nullable() }),
});

async function read(path: string) {
  return Page.parse(await reads.answer(path));
}

/** A list, one row at a time. */
async function walk(path: string): Promise<unknown[]> {
  const rows: unknown[] = [];
  for (let next = await read(`${path}&per_page=1`); ; ) {
    rows.push(...next.data);
    if (next.meta.next_cursor === null) return rows;
    next = await read(`${path}&per_page=1&cursor=${next.meta.next_cursor}`);
  }
}

const steps = 12;
const families = ["punks", "kin", "editions"];
const lists = {
  tokens: [
    ...families.map((family) => `/v1/collections/${family}/tokens?sort=token_id`),
    "/v1/collections/kin/tokens?fields=tokenId,contract,lastSale,bestOffer",
  ],
  listings: [
    ...families.map((family) => `/v1/listings?collection=${family}`),
    "/v1/listings?sort=created_at&fields=orderHash,price,collection",
  ],
  bids: [
    ...families.map((family) => `/v1/bids?collection=${family}`),
    "/v1/bids?status=inactive",
    "/v1/bids?fields=orderHash,price",
  ],
};

it.each(Object.entries(lists))(
  "of %s show what is true now, as pages behind cursors do, whatever was asked before",
  async (_list, paths) => {
    const market = await reads.playMarket(33, 40);
    const seen = new Set<string>();
    const look = async (path: string) => {
      const { data } = await read(`${path}&per_page=100`);
      expect(await walk(path), path).toEqual(data);
      seen.add(JSON.stringify(data));
    };
    for (let step = 0; step < steps; step += 1) {
      await market.go();
      // Each newer than the one before, and none of them in the future.
      const minuteMs = (Math.floor(Number(market.now()) / 60) + step - steps) * 60_000;
      const priceE8 = BigInt(2_000 + 100 * step) * 10n ** 8n;
      const tick = priceTicked({ coin: "ethereum", minuteMs, priceE8, sources: [] });
      await reads.happens(tick);
      for (const moment of [market.now(), market.now() + 60n]) {
        reads.at(moment);
        for (const path of paths) await look(path);
      }
    }
    expect(seen.size).toBeGreaterThan(2 * paths.length);
  },
);
