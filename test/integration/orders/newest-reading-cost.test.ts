import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openWindow } from "#projections/engine/fact-window.ts";
import type { Projection } from "#projections/engine/projection.ts";
import { appendObservations } from "#projections/log/append.ts";
import type { ChainReading } from "#projections/log/readings.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { bidsProjection } from "#projections/orders/bids.ts";
import { findChangedReadings } from "#projections/orders/changed-readings.ts";
import { listingsProjection } from "#projections/orders/listings.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { countFactsRead } from "#test/support/database/facts-read.ts";
import { addressOf, block, project } from "#test/support/database/given.ts";
import { repartition } from "#test/support/database/partitions.ts";
import { approval, givenBid, givenListing, read } from "#test/support/orders/order-facts.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";

const book = await openProjectedLog([ownershipProjection, listingsProjection, bidsProjection]);
afterAll(() => book.drop());

/** Of each subject, in three partitions. */
const [READINGS, PARTITION] = [3_000, 8_000];
/**
 * A lookup reads the newest of each partition and the one before it, and the planner looks at the ends of indexes: 5 to 13. An
 * order has several lookups, and its submission and approval; the window is read too.
 */
const [FEW, FEW_OF_ORDERS] = [40, 120];

const [maker, stranger] = [addressOf(1), addressOf(2)];
const [punks, items] = [addressOf(50), addressOf(51)];
const token = { contract: punks, tokenId: 1n };
const units = { contract: items, tokenId: 2n, owner: maker };
const listing = givenListing({ maker, ...token });
const listingOfUnits = givenListing({ maker, ...units, standard: "erc1155", quantity: 5n });
const bid = givenBid({ maker, contract: punks });

/** What somebody may change at will without an event, once like this and once like that. */
const subjects: Record<string, (isEven: boolean) => ChainReading> = {
  owner_read: (isEven) => ({ kind: "owner_read", ...token, owner: isEven ? maker : stranger }),
  "owner_read of a token without an owner": (isEven) => ({
    kind: "owner_read",
    ...token,
    tokenId: 3n,
    owner: isEven ? null : stranger,
  }),
  units_read: (isEven) => ({ kind: "units_read", ...units, units: isEven ? 5n : 1n }),
  "transfer_read of a token": (isEven) => ({
    kind: "transfer_read",
    ...token,
    owner: maker,
    allowed: isEven,
  }),
  "transfer_read of units": (isEven) => ({ kind: "transfer_read", ...units, allowed: isEven }),
  "signature_read of a listing": (isEven) => signature(listing.orderHash, isEven),
  "signature_read of a bid": (isEven) => signature(bid.orderHash, isEven),
  "recipients_read of a listing": (isEven) => recipients(listing.orderHash, isEven),
  "recipients_read of a bid": (isEven) => recipients(bid.orderHash, isEven),
};

const recipients = (orderHash: typeof bid.orderHash, isEven: boolean): ChainReading => ({
  kind: "recipients_read",
  orderHash,
  recipients: [stranger],
  refusing: isEven ? null : stranger,
});

const signature = (orderHash: typeof bid.orderHash, valid: boolean): ChainReading => ({
  kind: "signature_read",
  orderHash,
  maker,
  valid,
});

const first = 10;
const last = block(1, first + READINGS);
const newest = () => Object.values(subjects).map((reading) => reading(READINGS % 2 === 0));

beforeAll(async () => {
  await repartition(book.db, PARTITION);
  const targets = await book.emptyTargets();
  await book.appendFacts([
    ...[punks, items].map((contract, log) =>
      approval(contract, maker, true, { at: block(1, 1), log }),
    ),
    ...[listing, listingOfUnits, bid].map(({ submitted }) => submitted),
  ]);
  await appendObservations(
    book.db,
    Array.from({ length: READINGS }, (_, at) =>
      Object.values(subjects).map((reading) => read(reading(at % 2 === 0), block(1, first + at))),
    ).flat(),
  );
  await project(book.db, targets);
  await appendObservations(
    book.db,
    newest().map((reading) => read(reading, last)),
  );
  await sql`vacuum analyze log.fact`.execute(book.db);
});

it.each(Object.entries(subjects))(
  "the newest %s is found by reading itself alone",
  async (_, reading) => {
    const basis = { number: BigInt(last.number) + 1n, hash: last.hash, timestamp: new Date(0) };
    for (const [isEven, changes] of [true, false].map((it) => [it, it ? 0 : 1] as const)) {
      const round = { chainId: 1 as const, basis, readings: [reading(isEven)] };
      const facts = await countFactsRead(book.db, async (session) =>
        expect(await findChangedReadings(session, round, new Date(0))).toHaveLength(changes),
      );
      expect(facts).toBeLessThanOrEqual(FEW);
    }
  },
);

it.each<Projection>([listingsProjection, bidsProjection])(
  "the state of $name is derived from the newest reading of each subject alone",
  async (projection) => {
    const { rows } = await sql<{ position: bigint }>`select position from log.head`.execute(
      book.db,
    );
    const upTo = rows[0]?.position ?? 0n;
    const after = upTo - BigInt(newest().length);
    const facts = await countFactsRead(book.db, async (session) => {
      const window = await openWindow(session, { after, upTo });
      await projection.apply(session, schemaOf(projection.name), window);
    });
    expect(facts).toBeLessThanOrEqual(FEW_OF_ORDERS);
  },
);
