import { sql } from "kysely";
import type { Address } from "viem";
import { afterAll, expect, it } from "vitest";
import { allProjections } from "#projections/all.ts";
import { appendObservations, type Observation } from "#projections/log/append.ts";
import type { Database } from "#projections/log/database.ts";
import { schemaOf } from "#projections/log/versions.ts";
import {
  addressOf,
  appendEvents,
  block,
  type ChainEvent,
  project,
  zeroAddress,
} from "../support/database/given.ts";
import {
  openProjectorConnection,
  processorMsOf,
} from "../support/database/projector-connection.ts";
import { openProjectedLog } from "../support/orders/projected-log.ts";

const projections = allProjections({ feeRecipient: addressOf(99) });
const book = await openProjectedLog(projections);
const projector = openProjectorConnection(book.url);
afterAll(async () => {
  await projector.destroy();
  await book.drop();
});

const chainId = 33139;
const contracts = 3_000;
const few = 12;

function contractOf(number: number, index: number): Address {
  return addressOf(number * 100_000 + index);
}

/** Each new contract's first token, in one block. */
function minted(number: number, count: number): ChainEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    ...({ kind: "erc721_transfer", block: block(chainId, number), logIndex: index } as const),
    ...{ contract: contractOf(number, index), tokenId: 1n, transactionIndex: 0 },
    ...{ from: zeroAddress, to: addressOf(1) },
  }));
}

/** Rows and index entries of the log and of projections that were read. */
async function rowsRead(db: Database): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(db);
  const { rows } = await sql<{ read: bigint }>`
    select (select sum(seq_tup_read) from pg_stat_user_tables where schemaname = any (s.names))
         + (select sum(idx_tup_read) from pg_stat_user_indexes where schemaname = any (s.names)) as read
    from (select ${[...projections.map(({ name }) => schemaOf(name)), "log"]}::text[] as names) s`.execute(
    db,
  );
  return Number(rows[0]?.read);
}

/** The contracts of small windows are one collection: few collections have many contracts each. */
const registered: Observation = {
  ...{ kind: "collection_registered", chainId, contract: contractOf(1, 0) },
  ...{ identity: `0x${"01".repeat(32)}`, recordedAt: new Date(1_800_000_000_000) },
  payload: {
    ...{ slug: "family", name: "Family", verified: true, primary: contractOf(1, 0) },
    contracts: Array.from({ length: few }, (_, index) => contractOf(index + 1, 0)),
  },
};

const analyses = {
  "never analysed": [],
  "analysed while empty": ["before"],
  "analysed with few rows": ["after"],
  "analysed as the service does": ["before", "of collections"],
} as const satisfies Record<string, readonly string[]>;

it.each(Object.entries(analyses))(
  "tables that were %s are not read once per contract when thousands of new ones come",
  async (_, analysed: readonly string[]) => {
    await book.clear();
    const targets = await book.emptyTargets();
    if (analysed.includes("before")) await sql`analyze`.execute(book.db);
    for (let number = 1; number <= few; number += 1) {
      await appendEvents(book.db, minted(number, 1));
      await project(projector, targets);
    }
    await appendObservations(book.db, [registered]);
    await project(projector, targets);
    if (analysed.includes("after")) await sql`analyze`.execute(book.db);
    if (analysed.includes("of collections")) {
      await sql`
        analyze collections.contract, collections.collection, collection_stats.contract,
                collection_stats.collection, collection_stats.holder_stats`.execute(book.db);
    }
    await appendEvents(book.db, minted(few + 1, contracts));
    const before = await rowsRead(projector);
    await project(projector, targets);

    expect((await rowsRead(projector)) - before).toBeLessThan(100 * contracts);
  },
);

it("works on four times as many new contracts little more than four times as long", async () => {
  await book.clear();
  const targets = await book.emptyTargets();
  await sql`analyze`.execute(book.db);
  await appendEvents(book.db, minted(1, 1));
  await project(projector, targets);
  const takenMs: number[] = [];
  for (const [index, count] of [2_000, 2_000, 8_000].entries()) {
    await appendEvents(book.db, minted(index + 2, count));
    const before = await processorMsOf(projector);
    await project(projector, targets);
    takenMs.push((await processorMsOf(projector)) - before);
  }
  const [, one = Number.NaN, four = Number.NaN] = takenMs;
  expect(four).toBeLessThan(8 * one);
});
