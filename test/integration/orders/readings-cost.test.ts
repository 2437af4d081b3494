import { sql } from "kysely";
import { afterAll, expect, it } from "vitest";
import { wrappedNative } from "#chains/index.ts";
import type { ChainReading, ChainReadings } from "#projections/log/readings.ts";
import { bidsProjection } from "#projections/orders/bids.ts";
import { appendReadings, findChangedReadings } from "#projections/orders/changed-readings.ts";
import { listingsProjection } from "#projections/orders/listings.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { addressOf, block } from "#test/support/database/given.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";

const accounts = 400;
const here = block(1, 10);
const book = await openProjectedLog([ownershipProjection, listingsProjection, bidsProjection]);
await book.clear();
afterAll(() => book.drop());

/** Index searches of the log by a comparison of what the log holds already. */
async function searchesOf(readings: ChainReading[]): Promise<number> {
  const basis = { number: BigInt(here.number), hash: here.hash, timestamp: new Date(0) };
  const round: ChainReadings = { chainId: 1, basis, readings };
  await appendReadings(book.db, round, new Date(0));
  await sql`vacuum analyze`.execute(book.db);
  return await book.db.transaction().execute(async (session) => {
    expect(await findChangedReadings(session, round, new Date(0))).toEqual([]);
    const { rows } = await sql<{ searches: bigint }>`
      select idx_scan as searches from pg_stat_xact_user_tables where schemaname = 'log' and relname = 'fact_0'`.execute(
      session,
    );
    return Number(rows[0]?.searches);
  });
}

const subjects = Array.from({ length: accounts }, (_, index) => addressOf(1_000 + index));
const contract = addressOf(50);
const [currency, tokenId] = [wrappedNative[1], 1n];

it.each<[ChainReading["kind"], ChainReading[]]>([
  ["balance_read", subjects.map((owner) => ({ kind: "balance_read", currency, owner, wei: 5n }))],
  [
    "allowance_read",
    subjects.map((owner) => ({ kind: "allowance_read", currency, owner, wei: 5n })),
  ],
  ["counter_read", subjects.map((maker) => ({ kind: "counter_read", maker, counter: 3n }))],
  [
    "approval_read",
    subjects.map((owner) => ({ kind: "approval_read", contract, owner, approved: true })),
  ],
  [
    "owner_read",
    subjects.map((owner, at) => ({ kind: "owner_read", contract, tokenId: BigInt(at), owner })),
  ],
  [
    "units_read",
    subjects.map((owner) => ({ kind: "units_read", contract, tokenId, owner, units: 2n })),
  ],
])("comparing %s costs in proportion to the readings", async (_, readings) => {
  // One to nine for each, by the plan, and those of the planner, which looks at the ends of indexes. Each with each
  // would be hundreds.
  expect(await searchesOf(readings)).toBeLessThanOrEqual(16 * accounts);
});
