import { sql } from "kysely";
import { deriveInBulk } from "#projections/engine/bulk.ts";
import { dropTarget, targetOf } from "#projections/engine/checkpoint.ts";
import type { Projection } from "#projections/engine/projection.ts";
import { dependsOn, runConcurrently } from "#projections/engine/run-concurrently.ts";
import type { Database } from "#projections/log/database.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { type Figure, medianFigure } from "./figure.ts";
import { ofFive, projections, serverFile, theFive, theRest, timed, withLog } from "./server.ts";

/** Fewer repeats for large logs, which take long. */
function repeatsOf(facts: number): number {
  if (facts > 20_000_000) return 1;
  return facts > 5_000_000 ? 2 : 3;
}

/** A rebuild with indexes, as `op rebuild` does: first the projections of the goal with those they read, then the others. */
export async function run({ facts }: { facts: number }): Promise<Figure[]> {
  return await withLog({ facts }, async (db) => {
    const rates: number[] = [];
    const ratesOfAll: number[] = [];
    const copied: number[] = [];
    const each = new Map<string, number[]>();
    const peak = watchMemory();
    for (let repeat = 0; repeat < repeatsOf(facts); repeat += 1) {
      copied.push(facts / ((await copyLog(db)) / 1000));
      for (const { name } of projections) await dropTarget(db, schemaOf(name));
      const ms = await timed(() => derive(db, theFive, each));
      rates.push(facts / (ms / 1000));
      const others = await timed(() => derive(db, theRest, each));
      ratesOfAll.push(facts / ((ms + others) / 1000));
    }
    const size = `${facts} mixed facts`;
    const ratios = rates.map((rate, index) => rate / (copied[index] ?? Number.NaN));
    const ofFives = ratesOfAll.map((rate, index) => rate / (rates[index] ?? Number.NaN));
    const goal = { unit: "facts/s", atLeast: 150_000 } as const;
    const unit = "facts/s" as const;
    return [
      medianFigure("rebuild", rates, goal, `${size}, ${ofFive}`),
      medianFigure(
        "rebuild, all",
        ratesOfAll,
        { unit },
        `${size}, ${projections.length} projections`,
      ),
      medianFigure("rebuild, all, of five", ofFives, { unit: "ratio", atLeast: 0.85 }, size),
      medianFigure("rebuild, COPY of the log", copied, { unit }, size),
      medianFigure("rebuild, of COPY", ratios, { unit: "ratio", atLeast: 0.4 }, size),
      ...[...each].map(([name, ms]) => medianFigure(`rebuild, ${name}`, ms, { unit: "ms" }, size)),
      medianFigure("rebuild, process memory", [peak()], { unit: "MB", atMost: 500 }, size),
    ];
  });
}

/** Derives projections with indexes, as `op rebuild` does, and adds each one's milliseconds to `each`. */
export async function derive(
  db: Database,
  chosen: readonly Projection[],
  each: Map<string, number[]>,
): Promise<void> {
  const one = async (projection: Projection) => {
    const { name } = projection;
    const ms = await timed(() => deriveInBulk(db, targetOf(projection)));
    each.set(name, [...(each.get(name) ?? []), ms]);
  };
  await runConcurrently(chosen, one, dependsOn);
}

/** Milliseconds of copying the log's rows into a table without indexes, both emptied again to leave room on the disk. */
async function copyLog(db: Database): Promise<number> {
  const path = sql.lit(await serverFile(db, "bench.log"));
  await sql`copy (select * from log.fact) to ${path}`.execute(db);
  await sql`create table bench.log (like log.fact)`.execute(db);
  const ms = await timed(() => sql`copy bench.log from ${path}`.execute(db));
  await sql`drop table bench.log`.execute(db);
  await sql`copy (select where false) to ${path}`.execute(db);
  return ms;
}

/** The largest resident size of this process, in MB, until the function returned is called. */
function watchMemory(): () => number {
  let largest = 0;
  const sample = () => {
    largest = Math.max(largest, process.memoryUsage.rss() / 2 ** 20);
  };
  const timer = setInterval(sample, 50);
  return () => {
    sample();
    clearInterval(timer);
    return largest;
  };
}
