import fc from "fast-check";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Target } from "#projections/engine/checkpoint.ts";
import { bytea } from "#projections/log/sql-values.ts";
import { addressOf, dumpTable, project, setBlocks } from "#test/support/database/given.ts";
import { computeExpectedStats } from "#test/support/market-data/expected-stats.ts";
import {
  blocks,
  opening,
  type Step,
  statsProjections,
  story,
  tellStory,
} from "#test/support/market-data/stats-scenario.ts";
import { type Fact, openProjectedLog } from "#test/support/orders/projected-log.ts";
import { runsOf } from "#test/support/thoroughness.ts";

const tables = [
  "token",
  "minute_sales",
  "wash_trade",
  "contract",
  "snapshot_clock",
  "collection",
  "holder_stats",
  "search_text",
  "collection_count",
];

/** The first contract of the story. */
const burnable = addressOf(1);

let book: Awaited<ReturnType<typeof openProjectedLog>>;

beforeAll(async () => {
  book = await openProjectedLog(statsProjections);
});
afterAll(() => book.drop());

async function dump(): Promise<string[][]> {
  return await Promise.all(tables.map((table) => dumpTable(book.db, `collection_stats.${table}`)));
}

/** Tells a story to an empty log; `afterStep` looks at each moment of it. */
async function tell(steps: readonly Step[], afterStep: () => Promise<void>): Promise<void> {
  await book.clear();
  await book.appendFacts(opening());
  await afterStep();
  for (const told of tellStory(steps)) {
    if ("state" in told) {
      const state = told.state === "drop" ? "block_retracted" : "block_readopted";
      await setBlocks(book.db, state, [told.block]);
    } else await book.appendFacts(told as Fact[]);
    await afterStep();
  }
}

describe("figures of collections", () => {
  it("equal the sums over orders, owners, sales and snapshots after every step of any history", async () => {
    await fc.assert(
      fc.asyncProperty(story, async (steps) => {
        let targets: readonly Target[] = [];
        await tell(steps, async () => {
          if (targets.length === 0) targets = await book.emptyTargets();
          await project(book.db, targets);
          const { rows } = await sql<{ stats: unknown }>`
            select to_jsonb(f) || to_jsonb(h) as stats
            from collection_stats.collection f full join collection_stats.holder_stats h using (collection_id)
            order by collection_id`.execute(book.db);
          expect(rows.map(({ stats }) => stats)).toEqual(await computeExpectedStats(book.db));
        });
      }),
      { numRuns: runsOf(4, 1), endOnFailure: true },
    );
  });

  it("are the same derived fact by fact, in windows of seven, and at once", async () => {
    await fc.assert(
      fc.asyncProperty(story, async (steps) => {
        await tell(steps, async () => {});
        const states: string[][][] = [];
        for (const window of [1, 7, undefined]) {
          await project(book.db, await book.emptyTargets(), window);
          states.push(await dump());
        }
        expect(states[1]).toEqual(states[0]);
        expect(states[2]).toEqual(states[0]);
      }),
      { numRuns: runsOf(4, 1), endOnFailure: true },
    );
  });

  it("have no best offer while all tokens are burned, and no volume in USD of a part", async () => {
    const burns = [0, 1, 2].map((token): Step => ({ does: "burn", contract: 0, token, block: 0 }));
    const terms = { contract: 0, maker: 1, price: 2, from: -1, to: 4 };
    const trade = { does: "trade", contract: 0, seller: 0, buyer: 1, price: 3, block: 2 } as const;
    const steps: Step[] = [
      { does: "price", moment: 1, price: 5 },
      { does: "bid", token: 0, ...terms },
      trade,
      { ...trade, isForeign: true },
      ...burns,
      { does: "move", contract: 0, token: 0, to: 2, block: 2 },
    ];
    let targets: readonly Target[] = [];
    const seen: unknown[] = [];
    await tell(steps, async () => {
      if (targets.length === 0) targets = await book.emptyTargets();
      await project(book.db, targets);
      const { rows } = await sql<{ offers: boolean; sales: bigint; unpriced: bigint }>`
        select best_offer is not null as offers, sales_all as sales, unpriced_sales_all as unpriced
        from collection_stats.collection join log.contract k on k.contract_id = collection_id
        where k.address = ${bytea(burnable)}`.execute(book.db);
      seen.push(
        rows.map(({ offers, sales, unpriced }) => [offers, Number(sales), Number(unpriced)]),
      );
    });
    expect(seen).toEqual(
      [
        ...[
          [false, 0, 0],
          [false, 0, 0],
          [true, 0, 0],
        ],
        ...[
          [true, 1, 0],
          [true, 2, 1],
          [true, 2, 1],
          [true, 2, 1],
        ],
        ...[
          [false, 2, 1],
          [true, 2, 1],
        ],
      ].map((one) => [one]),
    );
  });

  it("keep no trace of a retracted block", async () => {
    await fc.assert(
      fc.asyncProperty(story, async (steps) => {
        const last = blocks.length - 1;
        const orphan = blocks.slice(last);
        await tell(
          steps.filter((step) => !("block" in step) || step.block < last),
          async () => {},
        );
        const targets = await book.emptyTargets();
        await project(book.db, targets);
        const before = await dump();

        const orphaned = steps.map((step) => ("block" in step ? { ...step, block: last } : step));
        for (const told of tellStory(orphaned)) {
          if ("state" in told) continue;
          await book.appendFacts(told.filter((fact) => "block" in fact));
        }
        await project(book.db, targets);
        await setBlocks(book.db, "block_retracted", orphan);
        await project(book.db, targets);
        expect(await dump()).toEqual(before);
      }),
      { numRuns: runsOf(4, 1), endOnFailure: true },
    );
  });
});
