import { sql } from "kysely";
import type { Database } from "../../projections/database.ts";
import { deriveInBulk } from "../../projections/engine/bulk.ts";
import { dropTarget } from "../../projections/engine/checkpoint.ts";
import { type Figure, medianFigure } from "./figure.ts";
import { projections, serverFile, timed, withLog } from "./server.ts";

const REPEATS = 3;

/** All projections from nothing, indexes included, on two connections: each after what it reads. */
export async function run({ facts }: { facts: number }): Promise<Figure[]> {
  return await withLog({ facts }, async (db) => {
    const rates: number[] = [];
    const copied: number[] = [];
    const each = new Map<string, number[]>();
    const peak = watchMemory();
    for (let repeat = 0; repeat < REPEATS; repeat += 1) {
      copied.push(facts / ((await copyLog(db)) / 1000));
      for (const { name } of projections) await dropTarget(db, name);
      const ms = await timed(() => rebuildAll(db, each));
      rates.push(facts / (ms / 1000));
    }
    const size = `${facts} mixed facts, ${projections.length} projections`;
    const ratios = rates.map((rate, index) => rate / (copied[index] ?? Number.NaN));
    return [
      medianFigure("rebuild", rates, { unit: "facts/s", atLeast: 120_000 }, size),
      medianFigure("rebuild, COPY of the log", copied, { unit: "facts/s" }, size),
      medianFigure("rebuild, of COPY", ratios, { unit: "ratio", atLeast: 0.3 }, size),
      ...[...each].map(([name, ms]) => medianFigure(`rebuild, ${name}`, ms, { unit: "ms" }, size)),
      medianFigure("rebuild, process memory", [peak()], { unit: "MB", atMost: 500 }, size),
    ];
  });
}

async function rebuildAll(db: Database, each: Map<string, number[]>): Promise<void> {
  const one = async (name: string) => {
    const projection = projections.find((candidate) => candidate.name === name);
    if (projection === undefined) throw new Error(`no projection ${name}`);
    const ms = await timed(() => deriveInBulk(db, { projection, schema: name }));
    each.set(name, [...(each.get(name) ?? []), ms]);
  };
  const inOrder = async (names: readonly string[]) => {
    for (const name of names) await one(name);
  };
  await Promise.all(lanes.map(inOrder));
  const done = new Set(lanes.flat());
  await inOrder(projections.map(({ name }) => name).filter((name) => !done.has(name)));
}

/** What is derived at the same time; each after what it reads. The others follow: they read these. */
const lanes = [
  ["ownership", "collections", "listings", "bids"],
  ["coin_prices", "sales", "activity"],
];

/** The log's rows into a table without indexes. */
async function copyLog(db: Database): Promise<number> {
  const path = sql.lit(await serverFile(db, "bench.log"));
  await sql`copy log.fact to ${path}`.execute(db);
  await sql`drop table if exists bench.log`.execute(db);
  await sql`create table bench.log (like log.fact)`.execute(db);
  return await timed(() => sql`copy bench.log from ${path}`.execute(db));
}

/** The largest resident size of this process, in MB, until the function returned is called. */
function watchMemory(): () => number {
  let largest = 0;
  const look = () => {
    largest = Math.max(largest, process.memoryUsage.rss() / 2 ** 20);
  };
  const timer = setInterval(look, 50);
  return () => {
    look();
    clearInterval(timer);
    return largest;
  };
}
