import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deriveInBulk } from "#projections/engine/bulk.ts";
import { appendObservations } from "#projections/log/append.ts";
import type { Database } from "#projections/log/database.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { metadataProjection } from "#projections/metadata/metadata.ts";
import { listingsProjection } from "#projections/orders/listings.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { traitsProjection } from "#projections/traits/traits.ts";
import { randomFrom } from "#test/simulation/random.ts";
import {
  appendEvents,
  createProjection,
  dumpTable,
  project,
} from "#test/support/database/given.ts";
import { ownedTokens } from "#test/support/market-data/owned-tokens.ts";
import {
  type Attribute,
  openTokenMarket,
  traitsAmong,
} from "#test/support/market-data/token-market.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";
import { seedsOf } from "#test/support/thoroughness.ts";

const traits = traitsProjection({
  metadata: metadataProjection,
  ownership: ownershipProjection,
  listings: listingsProjection,
});
const projections = [ownershipProjection, metadataProjection, listingsProjection, traits];
const tables = ["token", "token_bitmap", "trait", "listed_token", "listed_token_trait", "contract"];

let book: Awaited<ReturnType<typeof openProjectedLog>>;
beforeAll(async () => {
  book = await openProjectedLog(projections);
});
afterAll(() => book.drop());

const dump = async (schema: string) =>
  Object.fromEntries(
    await Promise.all(
      tables.map(async (table) => [table, await dumpTable(book.db, `${schema}.${table}`)] as const),
    ),
  );

/** Plays a random market and leaves its log and tables. */
async function playMarket(seed: number, steps: number, look: () => Promise<void>): Promise<void> {
  await book.clear();
  const market = openTokenMarket(randomFrom(seed));
  const { events, observations } = market.opening();
  await appendEvents(book.db, events);
  await appendObservations(book.db, observations);
  for (let step = 0; step < steps; step += 1) {
    const next = market.next();
    if ("facts" in next) await book.happens(...next.facts);
    else if ("drop" in next) await book.retract(next.drop);
    else await book.readopt(next.restore);
    if (step % 10 === 9) await look();
  }
}

type Known = {
  contract: number;
  token: bigint;
  live: boolean;
  attributes: Attribute[];
  priceWei: bigint | null;
};

/** Tokens with metadata, and what they are listed for, from the tables that the projection reads. */
async function readKnown(db: Database): Promise<Known[]> {
  const { rows } = await sql<Known>`
    select m.contract_id as contract, m.token_id as token, bool_or(not o.is_burned) as live, m.attributes,
           (select min(l.unit_price_wei) from listings.listing l
            where l.contract_id = m.contract_id and l.token_id = m.token_id and l.status = 'active') as "priceWei"
    from metadata.token m join ${ownedTokens} o using (contract_id, token_id)
    where m.status = 'ok' group by m.contract_id, m.token_id, m.attributes`.execute(db);
  return rows;
}

/** Each value's counts and floor, one token after the other. */
function countOneByOne(known: readonly Known[]): string[] {
  const values = new Map<string, { tokens: number; live: number; prices: bigint[] }>();
  for (const { contract, live, attributes, priceWei } of known) {
    for (const { type, value } of traitsAmong(attributes)) {
      const key = `${contract} ${type} ${JSON.stringify(value)}`;
      const counted = values.get(key) ?? { tokens: 0, live: 0, prices: [] };
      counted.tokens += 1;
      counted.live += live ? 1 : 0;
      if (priceWei !== null) counted.prices.push(priceWei);
      values.set(key, counted);
    }
  }
  return [...values].map(([key, { tokens, live, prices }]) => {
    const floor = prices.toSorted((a, b) => (a < b ? -1 : 1))[0] ?? null;
    return `${key} ${tokens} ${live} ${prices.length} ${floor}`;
  });
}

async function readCounted(db: Database): Promise<string[]> {
  const { rows } = await sql<{ row: string }>`
    select v.contract_id || ' ' || v.type || ' '
           || case when v.is_number or v.value in ('true', 'false') then v.value else to_json(v.value)::text end
           || ' ' || v.tokens || ' ' || v.live || ' ' || v.listed || ' '
           || coalesce((
             select min(unit_price_wei)::text from traits.listed_token_trait t
             where t.contract_id = v.contract_id and t.trait_key = v.trait_key
           ), 'null') as row
    from traits.trait v`.execute(db);
  return rows.map(({ row }) => row);
}

describe("traits", () => {
  it.each(seedsOf([1, 2, 3]))(
    "are what one token after the other makes them, in market %i",
    async (seed) => {
      await playMarket(seed, 40, async () => {
        const known = await readKnown(book.db);
        expect((await readCounted(book.db)).toSorted()).toEqual(countOneByOne(known).toSorted());
      });
      const known = await readKnown(book.db);
      expect(known.length).toBeGreaterThan(10);
      expect(known.some(({ live, priceWei }) => live && priceWei !== null)).toBe(true);
    },
  );

  it.each(seedsOf([4, 5]))("are the same in one window and in bulk, in market %i", async (seed) => {
    await playMarket(seed, 50, async () => {});
    const live = await dump("traits");
    expect(live.listed_token_trait?.length).toBeGreaterThan(0);

    const shadow = await createProjection(book.db, traits, "traits_shadow");
    await project(book.db, [shadow], 1_000_000);
    expect(await dump("traits_shadow")).toEqual(live);

    await deriveInBulk(book.db, { projection: traits, schema: "traits_bulk" });
    expect(await dump("traits_bulk")).toEqual(live);
    for (const schema of ["traits_shadow", "traits_bulk"]) {
      await sql`drop schema ${sql.id(schema)} cascade`.execute(book.db);
      await sql`delete from engine.checkpoint where projection = ${schema}`.execute(book.db);
    }
  });

  it("follow listings that were applied in another transaction", async () => {
    await playMarket(6, 40, async () => {});
    const live = await dump("traits");
    const before = await book.emptyTargets();
    const [ownership, metadata, listings, traits] = before;
    if (!ownership || !metadata || !listings || !traits) throw new Error("there are four targets");
    for (let limit = 40n; ; limit += 40n) {
      for (const target of [ownership, metadata, listings, traits]) {
        await project(book.db, [target], 1_000, limit);
      }
      const { rows } = await sql<{ done: boolean }>`
        select position >= (select position from log.head) as done
        from engine.checkpoint where projection = ${schemaOf("traits")}`.execute(book.db);
      if (rows[0]?.done) break;
    }
    expect(await dump("traits")).toEqual(live);
  });
});
