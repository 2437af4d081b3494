import { sql } from "kysely";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { rarityRanking } from "#jobs/collections/rank-rarity.ts";
import { runJobs } from "#jobs/runner/run-jobs.ts";
import { createSignal } from "#jobs/runner/signals.ts";
import { rankTokens } from "#projections/domain/rarity.ts";
import { readOutdatedRankings } from "#projections/traits/read-outdated-rankings.ts";
import { addressOf, block } from "#test/support/database/given.ts";
import {
  type Attribute,
  collectionsRegistered,
  dead,
  described,
  nfts,
} from "#test/support/market-data/token-market.ts";
import { openTokenReads, type TokenReads } from "#test/support/market-data/token-reads.ts";
import { transferred } from "#test/support/orders/order-facts.ts";

let reads: TokenReads;
beforeAll(async () => {
  reads = await openTokenReads();
});
afterAll(() => reads.close());

const [kin, kinSecond] = [nfts.kin.address, nfts.kinSecond.address];
const at = (log: number) => ({ at: block(1, 10 + log), log });
const minted = (contract: typeof kin, tokenId: bigint, to = addressOf(77)) =>
  transferred({ contract, tokenId, to }, at(Number(tokenId) + (contract === kinSecond ? 100 : 0)));
const fur = (value: string | number, type = "Fur"): Attribute => ({ trait_type: type, value });

/** A family of two contracts with nine tokens that can be ranked. */
async function openFamily(): Promise<void> {
  await reads.clear();
  await sql`truncate rarity.token, rarity.collection`.execute(reads.db);
  await reads.happens(
    ...collectionsRegistered(),
    ...[1n, 2n, 3n, 4n, 5n, 6n].map((id) => minted(kin, id)),
    ...[1n, 2n, 3n, 4n, 5n].map((id) => minted(kinSecond, id)),
    minted(kinSecond, 9n, dead),
    ...[1n, 2n, 3n].map((id) => described(kin, id, [fur("Gold"), fur(1, "Level")])),
    described(kin, 4n, [fur(" gold ", "FUR")]),
    described(kin, 5n, [fur("Tan"), fur("Cap", "Hat")]),
    ...[1n, 2n, 3n].map((id) => described(kinSecond, id, [fur("Tan")])),
    described(kinSecond, 4n, []),
    described(kinSecond, 5n, null),
    described(kinSecond, 9n, [fur("Lost")]),
  );
}

async function readRanks(): Promise<Record<string, [rank: number, score: number]>> {
  const { data } = await reads.list("/v1/collections/kin/tokens?per_page=100&sort=rarity");
  return Object.fromEntries(
    data.flatMap(({ contract, tokenId, rarity }) => {
      const { rank, score, of } = (rarity ?? {}) as { rank: number; score: number; of: number };
      if (rarity === null) return [];
      expect(of).toBe(9);
      return [[`${contract === kin ? "kin" : "kinSecond"} ${tokenId}`, [rank, score]]];
    }),
  );
}

it("ranks the live tokens of all contracts of a collection by their traits, without numbers", async () => {
  await openFamily();
  await reads.rank();
  const expected = rankTokens([[0], [0], [0], [0], [1, 2], [1], [1], [1], []], {
    types: 2,
    typeOf: [0, 0, 1],
    isNone: [false, false, false],
  });
  const names = [
    "kin 1",
    "kin 2",
    "kin 3",
    "kin 4",
    "kin 5",
    "kinSecond 1",
    "kinSecond 2",
    "kinSecond 3",
    "kinSecond 4",
  ];
  const ranks = await readRanks();
  expect(Object.keys(ranks).toSorted()).toEqual(names);
  for (const [place, name] of names.entries()) {
    expect(ranks[name]?.[0], name).toBe(expected[place]?.rank);
    expect(ranks[name]?.[1]).toBeCloseTo(expected[place]?.score ?? -1, 9);
  }
  const order = Object.values(ranks).map(([rank]) => rank);
  expect(order).toEqual(order.toSorted((a, b) => a - b));
});

it("is recomputed when traits, owners or the contracts of the collection change, and not otherwise", async () => {
  await openFamily();
  const stale = async () => (await readOutdatedRankings(reads.db)).length;
  expect(await stale()).toBe(1);
  await reads.rank();
  expect(await stale()).toBe(0);
  await reads.happens(transferred({ contract: kin, tokenId: 1n, to: addressOf(78) }, at(200)));
  expect(await stale()).toBe(0);
  await reads.happens(transferred({ contract: kin, tokenId: 5n, to: dead }, at(201)));
  expect(await stale()).toBe(1);
  await reads.rank();
  await reads.retract(block(1, 10 + 201));
  expect(await stale()).toBe(1);
  await reads.rank();
  expect(Object.keys(await readRanks())).toHaveLength(9);
  await reads.happens(described(kinSecond, 4n, [fur("Gold")]));
  expect(await stale()).toBe(1);
});

it("is updated by a job that is signalled when the tables have changed", async () => {
  await openFamily();
  const [wake, end] = [createSignal(), new AbortController()];
  const logger = pino({ level: "silent" });
  const job = runJobs(rarityRanking({ db: reads.db, changeSignal: wake, logger }), {
    logger,
    signal: end.signal,
  });
  await expect
    .poll(async () => Object.keys(await readRanks()).length, { timeout: 120_000 })
    .toBe(9);
  await reads.happens(described(kinSecond, 4n, [fur("Blue")]));
  wake.notify();
  await expect
    .poll(async () => (await readRanks())["kinSecond 4"]?.[0], { timeout: 120_000 })
    .toBeLessThan(3);
  end.abort();
  wake.notify();
  await job;
});

it("gives no ranks where no token has a trait", async () => {
  await reads.clear();
  await reads.happens(...collectionsRegistered(), minted(kin, 1n), described(kin, 1n, []));
  await reads.rank();
  expect(await readOutdatedRankings(reads.db)).toEqual([]);
  const { data } = await reads.list("/v1/collections/kin/tokens");
  expect(data.map(({ rarity, attributes }) => [rarity, attributes])).toEqual([[null, []]]);
});
