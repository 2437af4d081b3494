import type { Database } from "#projections/log/database.ts";
import { repartition } from "../support/database/partitions.ts";
import { appendRange, makeEvents } from "./facts.ts";
import { type Figure, medianFigure } from "./figure.ts";
import { findPostmaster, processorMs } from "./ponder/processor.ts";
import { withDatabase } from "./server.ts";

/** The log grows from the first segment to all: fifty times, as from one million facts to fifty. */
const SEGMENTS = 50;
/** Of the log that a partition holds: as 20 million of 50. */
const SHARE = 0.4;
/** Segments at either end that are compared. */
const COMPARED = 5;
const BATCH = 10_000;

/** What appending a fact costs the server's processor at the start and at the end of a log, in one partition and in several. */
export async function run({ facts }: { facts: number }): Promise<Figure[]> {
  const forms: [name: string, make: (db: Database) => Promise<void>][] = [
    ["in one partition", (db) => repartition(db, facts * 2)],
    ["in partitions", (db) => repartition(db, facts * SHARE)],
  ];
  const figures: Figure[] = [];
  for (const [name, make] of forms) {
    const costs = await withDatabase(async (db) => {
      await make(db);
      return await measure(db, facts);
    });
    // The first one fills what is empty.
    const first = costs.slice(1, 1 + COMPARED);
    const last = costs.slice(-COMPARED);
    const size = `${facts} mixed facts, ${BATCH} a transaction; partitions of ${facts * SHARE}`;
    figures.push(
      medianFigure(`a million facts, ${name}, first`, first, { unit: "s" }, size),
      medianFigure(`a million facts, ${name}, last`, last, { unit: "s" }, size),
      medianFigure(
        `growth, ${name}`,
        [sum(last) / sum(first)],
        name === "in partitions" ? { unit: "ratio", atMost: 1.1 } : { unit: "ratio" },
        size,
      ),
    );
  }
  return figures;
}

/** Seconds of the server's processor for a million facts, of each segment. */
async function measure(db: Database, facts: number): Promise<number[]> {
  await makeEvents(db, { facts });
  const postmaster = await findPostmaster(db);
  const each = facts / SEGMENTS;
  const costs: number[] = [];
  for (let after = 0; after < facts; after += each) {
    const before = processorMs(postmaster);
    await appendRange(db, after, after + each, BATCH);
    costs.push((processorMs(postmaster) - before) / each / 1e-3);
  }
  return costs;
}

const sum = (list: readonly number[]) => list.reduce((total, one) => total + one, 0);
