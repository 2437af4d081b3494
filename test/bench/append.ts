import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import { appendRange, makeEvents } from "./facts.ts";
import { type Figure, medianFigure } from "./figure.ts";
import { serverFile, timed, withDatabase } from "./server.ts";

const BATCH = 10_000;
const SEGMENT = 100_000;

/** Appends, and after every segment a COPY of the same rows into a table with the same indexes. */
export async function run({ facts }: { facts: number }): Promise<Figure[]> {
  return await withDatabase(async (db) => {
    await makeEvents(db, { facts });
    await sql`create table bench.copy (like log.fact_0 including all)`.execute(db);
    const appended: number[] = [];
    const copied: number[] = [];
    for (let after = 0; after < facts; after += SEGMENT) {
      const upTo = Math.min(facts, after + SEGMENT);
      const appendMs = await timed(() => appendRange(db, after, upTo, BATCH));
      const copyMs = await copyRange(db, after, upTo);
      appended.push((upTo - after) / (appendMs / 1000));
      copied.push((upTo - after) / (copyMs / 1000));
    }
    const size = `${facts} mixed facts, ${BATCH} a transaction, staged from a table; segments of ${SEGMENT}`;
    const ratios = appended.map((rate, index) => rate / (copied[index] ?? Number.NaN));
    return [
      medianFigure("append", appended, { unit: "facts/s", atLeast: 90_000 }, size),
      medianFigure("append, COPY of the same rows", copied, { unit: "facts/s" }, size),
      medianFigure("append, of COPY", ratios, { unit: "ratio", atLeast: 0.75 }, size),
    ];
  });
}

/** Positions equal the events' numbers here, as nothing else was appended. */
async function copyRange(db: Database, after: number, upTo: number): Promise<number> {
  const path = sql.lit(await serverFile(db, "bench.copy"));
  await sql`
    copy (select * from log.fact where position > ${sql.lit(after)} and position <= ${sql.lit(upTo)} order by position)
    to ${path}`.execute(db);
  return await timed(() => sql`copy bench.copy from ${path}`.execute(db));
}
