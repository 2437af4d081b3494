import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openWindow } from "#projections/engine/fact-window.ts";
import type { ChainReading } from "#projections/log/readings.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { findChangedReadings } from "#projections/orders/changed-readings.ts";
import { listingsProjection } from "#projections/orders/listings.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { countFactsRead } from "#test/support/database/facts-read.ts";
import { addressOf, appendEvents, block, project } from "#test/support/database/given.ts";
import { approval, givenListing, read, transferred } from "#test/support/orders/order-facts.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";

const book = await openProjectedLog([ownershipProjection, listingsProjection]);
afterAll(() => book.drop());

/** Of one id: makers with two listings each, whose units were read, and transfers before and since. */
const [MAKERS, TRANSFERS] = [10, 300];
const [contract, tokenId, stranger] = [addressOf(50), 1n, addressOf(7)];
const makers = Array.from({ length: MAKERS }, (_, index) => addressOf(1_000 + index));
const last = block(1, 10);
const told = (owner: (typeof makers)[number], units: bigint): ChainReading => {
  return { kind: "units_read", contract, tokenId, owner, units };
};

beforeAll(async () => {
  const targets = await book.emptyTargets();
  for (const [index, maker] of makers.entries()) {
    const orders = [1n, 2n].map((salt) =>
      givenListing({ maker, contract, tokenId, standard: "erc1155", quantity: 5n, salt }),
    );
    await book.appendFacts([
      ...orders.map(({ submitted }) => submitted),
      approval(contract, maker, true, { at: block(1, 1), log: index }),
      read(told(maker, 2n), block(1, 5)),
    ]);
  }
  for (const at of [block(1, 4), block(1, 6)])
    await appendEvents(
      book.db,
      Array.from({ length: TRANSFERS }, (_, log) =>
        transferred({ contract, tokenId, to: stranger, units: 1n }, { at, log }),
      ),
    );
  await project(book.db, targets);
  await appendEvents(
    book.db,
    makers.map((to, log) =>
      transferred({ contract, tokenId, from: stranger, to, units: 1n }, { at: last, log }),
    ),
  );
  await project(book.db, targets);
  await sql`vacuum analyze log.fact`.execute(book.db);
});

it("listings of one id look at its transfers once, whatever number of makers has a reading", async () => {
  const { rows } = await sql<{ fillable: bigint }>`
    select distinct fillable from listings.listing`.execute(book.db);
  const { rows: heads } = await sql<{ position: bigint }>`select position from log.head`.execute(
    book.db,
  );
  const upTo = heads[0]?.position ?? 0n;
  const facts = await countFactsRead(book.db, async (session) => {
    const window = await openWindow(session, { after: upTo - BigInt(MAKERS), upTo });
    await listingsProjection.apply(session, schemaOf("listings"), window);
  });

  expect(rows).toEqual([{ fillable: 3n }]);
  expect(facts).toBeLessThan(2 * TRANSFERS);
});

it("readings of one id are compared by looking at its transfers once", async () => {
  const basis = { number: BigInt(last.number), hash: last.hash, timestamp: new Date(0) };
  const wrong = told(addressOf(1_000), 4n);
  const facts = await countFactsRead(book.db, async (session) => {
    const readings = [...makers.map((maker) => told(maker, 3n)), wrong];
    const changed = await findChangedReadings(
      session,
      { chainId: 1, basis, readings },
      new Date(0),
    );
    expect(changed).toHaveLength(1);
  });
  expect(facts).toBeLessThan(2 * TRANSFERS);
});
