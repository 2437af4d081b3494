import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { archivePartition } from "../../api/run/archives/archive-partition.ts";
import type { Database } from "../../projections/database.ts";
import { build } from "../../projections/engine/build.ts";
import { dropTarget, targetOf } from "../../projections/engine/checkpoint.ts";
import type { Archive } from "../../projections/log/archives/archives.ts";
import { attachPartition } from "../../projections/log/archives/attach-partition.ts";
import { detachPartition } from "../../projections/log/archives/detach-partition.ts";
import {
  type Partition,
  readPartitions,
} from "../../projections/log/partitions/read-partitions.ts";
import { repartition } from "../support/database/partitions.ts";
import { makeLog } from "./exchange-mix.ts";
import { type Figure, medianFigure } from "./figure.ts";
import { projections, timed, withDatabase } from "./server.ts";

/** Of the log that a partition holds; all but the last are archived. */
const SHARE = 0.2;
const repeats = 3;

/** Of one repeat: seconds, and bytes of a fact. */
type Costs = Record<
  "archive" | "detach" | "attach" | "left" | "table" | "kept" | "file" | "fromTable" | "fromFiles",
  number
>;

/** What archives cost a million facts, and a rebuild of sales that reads them relative to one from the table. */
export async function run({ facts }: { facts: number }): Promise<Figure[]> {
  const directory = await mkdtemp(join(tmpdir(), "bench-archives-"));
  try {
    const costs = await withDatabase(async (db) => {
      await repartition(db, facts * SHARE);
      await makeLog(db, facts, true);
      const found: Costs[] = [];
      for (let repeat = 0; repeat < repeats; repeat += 1)
        found.push(await measure(db, join(directory, `${repeat}`)));
      return found;
    });
    return figuresOf(costs, `${facts} mixed facts, half of the fills other exchanges'`);
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function measure(db: Database, directory: string): Promise<Costs> {
  const fromTable = await rebuildSales(db);
  const whole = await readWhole(db);
  const facts = whole.reduce((sum, { first, last }) => sum + Number(last - first + 1n), 0);
  const seconds = async (work: (one: Partition, index: number) => Promise<unknown>) =>
    (await timed(async () => {
      for (const [index, one] of whole.entries()) await work(one, index);
    })) /
    1_000 /
    (facts / 1e6);
  const archives: Archive[] = [];
  const archiveOf = (index: number) => {
    const archive = archives[index];
    if (archive === undefined) throw new Error("each partition is archived");
    return archive;
  };
  const archive = await seconds(async (one) => {
    archives.push(await archivePartition(db, one, directory));
  });
  let left = 0;
  const detach = await seconds(async (one, index) => {
    left += Number((await detachPartition(db, one, archiveOf(index))).left);
  });
  const kept = sizeOf(await readWhole(db)) + (await sizeOfKeys(db));
  const fromFiles = await rebuildSales(db);
  const attach = await seconds((one, index) => attachPartition(db, one, archiveOf(index)));
  const file = archives.reduce((sum, { bytes }) => sum + Number(bytes), 0);
  return {
    ...{ archive, detach, attach, fromTable, fromFiles },
    ...{ left: left / facts, table: sizeOf(whole) / facts, kept: kept / facts, file: file / facts },
  };
}

async function readWhole(db: Database): Promise<Partition[]> {
  await sql`vacuum analyze log.fact, log.detached_block`.execute(db);
  const { rows } = await sql<{ position: bigint }>`select position from log.head`.execute(db);
  return (await readPartitions(db)).filter(({ last }) => last < (rows[0]?.position ?? 0n));
}

const sizeOf = (partitions: readonly Partition[]) =>
  partitions.reduce((sum, { bytes }) => sum + Number(bytes), 0);

async function sizeOfKeys(db: Database): Promise<number> {
  const { rows } = await sql<{ bytes: bigint }>`
    select pg_total_relation_size('log.detached_block') as bytes`.execute(db);
  return Number(rows[0]?.bytes ?? 0n);
}

async function rebuildSales(db: Database): Promise<number> {
  const sales = projections.find(({ name }) => name === "sales");
  if (sales === undefined) throw new Error("sales are a projection");
  const target = targetOf(sales);
  await dropTarget(db, target.schema);
  return await timed(() => build(db, target, {}, () => {}));
}

function figuresOf(costs: readonly Costs[], size: string): Figure[] {
  const of = (name: keyof Costs) => costs.map((one) => one[name]);
  const ratios = costs.map(({ fromTable, fromFiles }) => fromFiles / fromTable);
  const million = (name: "archive" | "detach" | "attach") =>
    medianFigure(`a million facts, ${name}`, of(name), { unit: "s" }, size);
  const bytes = (figure: string, name: "table" | "kept" | "file") =>
    medianFigure(`a fact, ${figure}`, of(name), { unit: "B" }, size);
  return [
    ...(["archive", "detach", "attach"] as const).map(million),
    medianFigure("facts that leave", of("left"), { unit: "ratio" }, size),
    bytes("in its partition", "table"),
    bytes("in a detached partition, with keys", "kept"),
    bytes("in its file", "file"),
    medianFigure("rebuild of sales from the table", of("fromTable"), { unit: "ms" }, size),
    medianFigure("rebuild of sales from archives", of("fromFiles"), { unit: "ms" }, size),
    medianFigure("rebuild of sales, archives of table", ratios, { unit: "ratio" }, size),
  ];
}
