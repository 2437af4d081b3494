import { sql } from "kysely";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
import type { Database } from "#projections/log/database.ts";
import { priceTicked } from "#projections/prices/coin-prices.ts";
import { addressOf, block } from "#test/support/database/given.ts";
import { ownedTokens } from "#test/support/market-data/owned-tokens.ts";
import {
  collectionsRegistered,
  described,
  nfts,
  sameType,
  traitsAmong,
} from "#test/support/market-data/token-market.ts";
import { openTokenReads, type TokenReads } from "#test/support/market-data/token-reads.ts";
import {
  approval,
  givenListing,
  receivedAt,
  transferred,
} from "#test/support/orders/order-facts.ts";

let reads: TokenReads;
beforeAll(async () => {
  reads = await openTokenReads();
});
afterAll(() => reads.close());

const Traits = z.object({
  data: z.object({
    collection: z.looseObject({ address: z.string(), slug: z.string() }),
    traitTypes: z.array(
      z.object({
        type: z.string(),
        values: z.array(
          z.strictObject({
            value: z.string(),
            count: z.number(),
            listed: z.number(),
            floor: z.number().nullable(),
            floorWei: z.string().nullable(),
            askId: z.string().nullable(),
            usd: z.number().nullable(),
          }),
        ),
      }),
    ),
  }),
});

const ask = async (path: string) => Traits.parse(await reads.answer(path)).data;

type Known = {
  contract: Hex;
  attributes: { trait_type: string; value: unknown }[];
  asks: string[];
};

/** Tokens alive with metadata, and their active listings at a moment, cheapest first, of equal ones the older. */
async function readLive(db: Database, now: bigint): Promise<Known[]> {
  const { rows } = await sql<Known>`
    select k.address as contract, m.attributes,
           array(select lpad(l.unit_price_wei::text, 30, '0') || ' ' || lpad(l.position::text, 9, '0') || ' '
                        || case l.marketplace when 'native' then 'mkt-' when 'opensea' then '' else 'magiceden-' end
                        || '0x' || encode(l.order_hash, 'hex')
                 from listings.listing l
                 where l.contract_id = m.contract_id and l.token_id = m.token_id and l.status = 'active'
                   and l.end_time > ${now} order by 1) as asks
    from metadata.token m join log.contract k using (contract_id)
    where m.status = 'ok' and exists (
      select from ${ownedTokens} t
      where t.contract_id = m.contract_id and t.token_id = m.token_id and not t.is_burned
    )`.execute(db);
  return rows;
}

/** What the answer must hold, as text, one token after the other. */
function countValues(tokens: readonly Known[]): string[] {
  const values = new Map<string, { count: number; asks: string[]; listed: number }>();
  const numeric = new Map<string, boolean>();
  for (const { attributes, asks } of tokens) {
    for (const { same, type, value } of traitsAmong(attributes)) {
      const isNumber = /^\d+(\.\d+)?$/.test(String(value));
      numeric.set(sameType(type), (numeric.get(sameType(type)) ?? true) && isNumber);
      const counted = values.get(same) ?? { count: 0, asks: [], listed: 0 };
      counted.count += 1;
      counted.listed += asks.length > 0 ? 1 : 0;
      counted.asks.push(...asks);
      values.set(same, counted);
    }
  }
  return [...values]
    .filter(([same]) => numeric.get(same.split("=")[0] ?? "") === false)
    .map(([same, { count, listed, asks }]) => {
      const [price = null, , askId = null] = asks.toSorted()[0]?.split(" ") ?? [];
      return `${same} ${count} ${listed} ${price && BigInt(price)} ${askId}`;
    });
}

describe("the traits of a collection", () => {
  it.each([51, 52, 53])(
    "are what its tokens make them, before and after listings end, in market %i",
    async (seed) => {
      const market = await reads.playMarket(seed, 30);
      let listed = 0;
      for (const later of [0n, 60n]) {
        const now = market.now() + later;
        const live = await readLive(reads.db, now);
        for (const [slug, contracts] of [
          ["punks", [nfts.punks.address]],
          ["kin", [nfts.kin.address, nfts.kinSecond.address]],
          ["editions", [nfts.editions.address]],
        ] as [string, Hex[]][]) {
          const fresh = await reads.another(now);
          const { traitTypes } = Traits.parse(
            (await fresh.get(`/v1/collections/${slug}/traits`)).body,
          ).data;
          await fresh.close();
          const told = traitTypes.flatMap(({ type, values }) =>
            values.map((one) => {
              listed += one.listed;
              return `${sameType(type)}=${one.value} ${one.count} ${one.listed} ${one.floorWei} ${one.askId}`;
            }),
          );
          const own = live.filter(({ contract }) => contracts.includes(contract));
          expect(told.toSorted(), slug).toEqual(countValues(own).toSorted());
          for (const { values } of traitTypes) {
            const prices = values.map(({ floorWei }) =>
              floorWei === null ? Infinity : Number(floorWei),
            );
            expect(prices).toEqual(prices.toSorted((a, b) => a - b));
          }
        }
      }
      expect(listed).toBeGreaterThan(0);
    },
  );

  it("are found by type in any case, with floors in dollars, and cacheable for a minute", async () => {
    await reads.clear();
    const [owner, contract] = [addressOf(900), nfts.punks.address];
    const at = (log: number) => ({ at: block(1, 5), log });
    const order = givenListing({
      maker: owner,
      contract,
      tokenId: 1n,
      unitPriceWei: 15n * 10n ** 17n,
    });
    const fur = (value: string) => [{ trait_type: "Fur Color", value }];
    await reads.happens(
      ...collectionsRegistered(),
      transferred({ contract, tokenId: 1n, to: owner }, at(1)),
      transferred({ contract, tokenId: 2n, to: owner }, at(2)),
      approval(contract, owner, true, at(3)),
      described(contract, 1n, [...fur("Gold"), { trait_type: "Level", value: 3 }]),
      described(contract, 2n, [{ trait_type: "fur  color", value: "Tan" }, ...fur("Gold")]),
      order.submitted,
      priceTicked({
        coin: "ethereum",
        minuteMs: Number(receivedAt) * 1000 - ((Number(receivedAt) * 1000) % 60_000),
        priceE8: 2_000n * 10n ** 8n,
        sources: [],
      }),
    );
    reads.at(receivedAt + 60n);
    const gold = {
      value: "Gold",
      count: 2,
      listed: 1,
      floor: 1.5,
      floorWei: String(15n * 10n ** 17n),
      askId: `mkt-${orderHash(order.components)}`,
      usd: 3_000,
    };
    const tan = {
      value: "Tan",
      count: 1,
      listed: 0,
      floor: null,
      floorWei: null,
      askId: null,
      usd: null,
    };
    const path = "/v1/collections/punks/traits";
    const data = await ask(path);
    expect(data.traitTypes).toEqual([{ type: "Fur Color", values: [gold, tan] }]);
    expect(data.collection).toEqual({
      address: contract,
      slug: "punks",
      name: "PUNKS",
      urls: { collection: "https://site.example.test/collections/punks?chainId=1" },
    });
    expect(await ask(`${path}?type=FUR%20COLOR`)).toEqual(data);
    await reads.refusal(`${path}?type=level`, 404, "not_found");
    await reads.refusal(`${path}?type=hat`, 404, "not_found");
    await reads.refusal("/v1/collections/nobody/traits", 404, "not_found");

    const { headers } = await reads.api.get(path);
    expect(headers.get("cache-control")).toBe("public, max-age=60");
    await reads.happens(described(contract, 2n, fur("Blue")));
    expect(await ask(path)).toEqual(data);
    const fresh = await reads.another(receivedAt + 60n);
    const answers = await Promise.all([1, 2, 3].map(() => fresh.get(path)));
    await fresh.close();
    for (const { body } of answers) {
      expect(Traits.parse(body).data.traitTypes[0]?.values.map(({ value }) => value)).toEqual([
        "Gold",
        "Blue",
      ]);
    }
  });
});
