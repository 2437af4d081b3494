import { expect, it } from "vitest";
import { createDatabase } from "../support/database/postgres.ts";
import { measureTruth } from "../truth/run.ts";
import { summarize } from "../truth/summary.ts";

const seed = 7;
const rounds = 20;
/** A book that is there from the start: over a thousand evaluations at the cost of a few seconds. */
const orders = 60;

it("every order's status equals what the exchange would do with it, throughout a random market", async () => {
  const database = await createDatabase();
  try {
    const { url: databaseUrl } = database;
    const given = { chainId: 33139, seed, rounds, orders, databaseUrl, report: () => {} } as const;
    const truth = await measureTruth(given);
    process.stdout.write(`seed ${seed}: ${summarize(truth)}\n`);
    expect(truth.disagreements).toEqual([]);
    expect(truth.comparisons).toBe(rounds);
    expect(truth.compared).toBeGreaterThan((orders * rounds) / 2);
    expect(truth.reorgs).toBeGreaterThan(0);
  } finally {
    await database.drop();
  }
});
