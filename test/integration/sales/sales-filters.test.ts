import { zeroAddress } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { wrappedNative } from "#chains/index.ts";
import { appendObservations } from "#projections/log/append.ts";
import { type Random, randomFrom } from "#test/simulation/random.ts";
import { addressOf, appendEvents, block, type ChainEvent } from "#test/support/database/given.ts";
import { soldOnLooksrare, soldOnX2y2 } from "#test/support/market-data/exchange-sales.ts";
import { collectionsRegistered, described, nfts } from "#test/support/market-data/token-market.ts";
import { openTokenReads, type TokenReads } from "#test/support/market-data/token-reads.ts";
import {
  feeRecipient,
  filled,
  givenBid,
  givenListing,
  transferred,
} from "#test/support/orders/order-facts.ts";

const wallets = [401, 402, 403, 404].map(addressOf);
const families = [nfts.punks, nfts.kin, nfts.kinSecond].map(({ address }) => address);
/** Blocks of a day. */
const day = 7_200;

let reads: TokenReads;
let all: Row[] = [];
beforeAll(async () => {
  reads = await openTokenReads();
  await seed(randomFrom(16));
  all = (await walk("/v1/sales?per_page=100")).rows;
});
afterAll(() => reads.close());

/**
 * A fill of a listing, or of a bid paid in the wrapped currency; some pay a fee to nobody's recipient. A third are on other
 * exchanges; some of those are known as this market's by their fee, so that a marketplace has several protocols.
 */
function fillOf(random: Random, index: number): ChainEvent {
  const [maker, taker] = [random.pick(wallets), random.pick(wallets)];
  const terms = {
    maker,
    contract: random.pick(families),
    tokenId: BigInt(random.int(0, 9)),
    salt: BigInt(index),
  };
  const at = block(1, Math.floor((index * day * 6) / 300) + 100);
  if (random.chance(0.3)) {
    const sell = random.chance(0.5) ? soldOnLooksrare : soldOnX2y2;
    const { contract, tokenId } = terms;
    const sale = { contract, tokenId, seller: maker, buyer: taker, priceWei: 10n ** 18n };
    return sell(random.chance(0.5) ? { ...sale, feeRecipient } : sale, { at, log: index });
  }
  const order = random.chance(0.3) ? givenBid(terms) : givenListing(terms);
  const fill = { ...filled(order, 1n, { at, log: index }), to: taker };
  if (random.chance(0.7)) return fill;
  const payload = JSON.stringify(fill.payload, (_, value) =>
    typeof value === "bigint" ? String(value) : value,
  );
  return { ...fill, payload: JSON.parse(payload.replaceAll(feeRecipient, addressOf(0x77))) };
}

async function seed(random: Random): Promise<void> {
  await reads.clear();
  const tokens = families.flatMap((contract) =>
    Array.from({ length: 10 }, (_, id) => ({ contract, tokenId: BigInt(id) })),
  );
  const owned = tokens.map((token, log) =>
    transferred({ ...token, from: zeroAddress, to: addressOf(400) }, { at: block(1, 5), log }),
  );
  const documents = tokens.map(({ contract, tokenId }) =>
    described(contract, tokenId, [
      { trait_type: "Fur", value: tokenId % 3n === 0n ? "Gold" : "Tan" },
    ]),
  );
  const fills = Array.from({ length: 300 }, (_, index) => fillOf(random, index));
  await appendEvents(reads.db, [...owned, ...fills]);
  await appendObservations(reads.db, [...collectionsRegistered(), ...documents]);
  await reads.happens();
}

const Row = z.looseObject({
  saleId: z.string(),
  contract: z.string(),
  tokenId: z.string(),
  buyer: z.string(),
  seller: z.string(),
  marketplace: z.string(),
  protocol: z.object({ name: z.string() }),
  currency: z.object({ symbol: z.string().nullable(), address: z.string() }),
  timestamp: z.string(),
});
type Row = z.output<typeof Row>;
const List = z.object({
  data: z.array(Row),
  meta: z.looseObject({ total: z.number(), next_cursor: z.string().nullable() }),
});

async function walk(path: string): Promise<{ rows: Row[]; total: number }> {
  const rows: Row[] = [];
  for (let next = List.parse(await reads.answer(path)); ; ) {
    rows.push(...next.data);
    if (next.meta.next_cursor === null) return { rows, total: next.meta.total };
    next = List.parse(await reads.answer(`${path}&cursor=${next.meta.next_cursor}`));
  }
}

type Filter = { query: string; keeps: (row: Row) => boolean };

const isGold = ({ tokenId }: Row) => Number(tokenId) % 3 === 0;
const kin = [nfts.kin.address, nfts.kinSecond.address].map(String);
const ofKin = ({ contract }: Row) => kin.includes(contract);
const places: Filter[] = [
  { query: "", keeps: () => true },
  { query: "collection=kin", keeps: ofKin },
  { query: "collection=punks", keeps: ({ contract }) => contract === nfts.punks.address },
  { query: "collection=kin&token_id=3", keeps: (row) => ofKin(row) && row.tokenId === "3" },
  { query: "token_id=3", keeps: ({ tokenId }) => tokenId === "3" },
  { query: "traits[fur]=Gold", keeps: isGold },
  { query: "collection=kin&traits[fur]=Gold", keeps: (row) => ofKin(row) && isGold(row) },
];

/** Some filters of the trade, each with a probability. */
function drawFilters(random: Random): Filter[] {
  const [buyer, seller, wallet] = [0, 1, 2].map(() => random.pick(wallets));
  const [marketplace, symbol] = [
    random.pick(["native", "unknown", "looksrare", "blur"]),
    random.pick(["ETH", "WETH"]),
  ];
  const protocol = random.pick(["seaport", "looksrare", "x2y2", "wyvern"]);
  const address = random.pick([zeroAddress, wrappedNative[1], addressOf(9)]);
  const [since, until] = [0, 0].map(() => momentOf(random));
  const drawn: Filter[] = [
    { query: `buyer=${buyer}`, keeps: (row) => row.buyer === buyer },
    { query: `seller=${seller}`, keeps: (row) => row.seller === seller },
    { query: `wallet=${wallet}`, keeps: (row) => row.buyer === wallet || row.seller === wallet },
    { query: `marketplace=${marketplace}`, keeps: (row) => row.marketplace === marketplace },
    { query: `protocol=${protocol}`, keeps: (row) => row.protocol.name === protocol },
    { query: `currency=${symbol}`, keeps: ({ currency }) => currency.symbol === symbol },
    { query: `currency=${address}`, keeps: ({ currency }) => currency.address === address },
    { query: `since=${since}`, keeps: ({ timestamp }) => timestamp >= String(since) },
    { query: `until=${until}`, keeps: ({ timestamp }) => timestamp < String(until) },
  ];
  const [byParty, byRest] = [
    drawn.slice(0, 3),
    [...drawn.slice(3, 5), random.pick(drawn.slice(5, 7)), ...drawn.slice(7)],
  ];
  return [...byParty.filter(() => random.chance(0.2)), ...byRest.filter(() => random.chance(0.4))];
}

/** Around a sale, or at midnight. */
function momentOf(random: Random): string {
  const time = Date.parse(random.pick(all).timestamp);
  const moved = random.pick([time, time + 1_000, time - (time % 86_400_000)]);
  return new Date(moved).toISOString();
}

describe("GET /v1/sales by who, where, in what and when", () => {
  it("has sales of every kind", () => {
    expect(all).toHaveLength(300);
    const kinds = new Set(all.map((row) => `${row.marketplace} ${row.currency.symbol}`));
    expect([...kinds].sort()).toEqual([
      ...["looksrare ETH", "native ETH", "native WETH", "unknown ETH", "unknown WETH", "x2y2 ETH"],
    ]);
    const markets = new Set(all.map((row) => `${row.marketplace} ${row.protocol.name}`));
    for (const market of ["native looksrare", "native x2y2"]) expect(markets).toContain(market);
    expect(all.some(({ buyer, seller }) => buyer === seller)).toBe(true);
  });

  it.each(places)("lists those of $query that match, with the exact total", async (place) => {
    const random = randomFrom(place.query.length);
    let found = 0;
    for (let draw = 0; draw < 60; draw += 1) {
      const filters = [place, ...drawFilters(random)];
      const query = filters
        .map((filter) => filter.query)
        .filter(Boolean)
        .join("&");
      const expected = all.filter((row) => filters.every(({ keeps }) => keeps(row)));
      const path = `/v1/sales?${query}&per_page=${random.pick([7, 40, 100])}`;
      const { rows, total } = await walk(path);
      expect(rows, path).toEqual(expected);
      expect(total, path).toBe(expected.length);
      const second = List.parse(await reads.answer(`${path}&page=2`)).data;
      const perPage = Number(new URLSearchParams(path.split("?")[1]).get("per_page"));
      expect(second, path).toEqual(expected.slice(perPage, 2 * perPage));
      found += expected.length;
    }
    expect(found).toBeGreaterThan(20);
  });

  it("refuses what is no filter, and a cursor of another one", async () => {
    for (const query of [
      "buyer=bob",
      "currency=DOGE",
      "currency=APE",
      "currency=0x12",
      "since=yesterday",
      "until=2024-01-01",
    ]) {
      await reads.refusal(`/v1/sales?${query}`, 422, "invalid_parameters");
    }
    const { meta } = List.parse(await reads.answer("/v1/sales?per_page=2&currency=WETH"));
    const path = `/v1/sales?per_page=2&currency=ETH&cursor=${meta.next_cursor}`;
    await reads.refusal(path, 422, "invalid_cursor");
  });
});
