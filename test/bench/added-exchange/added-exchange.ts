import { spawn } from "node:child_process";
import { once } from "node:events";
import { sql } from "kysely";
import { addableExchanges } from "#ops/ponder/indexed-sources.ts";
import { migrate } from "#ops/postgres/migrate.ts";
import { startOrphanGuard } from "#ops/processes/child.ts";
import { launch } from "#ops/programs.ts";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { hasProjectionsWithin, readIndexerStates } from "#projections/log/progress.ts";
import { addSources, removeSource } from "#projections/log/sources.ts";
import { until } from "#test/support/database/pipeline.ts";
import { type Figure, medianFigure, percentileFigures } from "../figure.ts";
import { type ChainNode, startNode } from "../generated-chain/node-process.ts";
import { serve } from "../installation.ts";
import { timed, withDatabase } from "../server.ts";
import { expectEqual } from "./equal.ts";
import { readUntil } from "./reads.ts";

const chainId = 1;
const exchange = "blur";
const restMs = 60_000;
const warmUpMs = 15_000;
/** For the first start of a million facts on a slow machine. */
const readyWithinMs = 3_600_000;
/** Blocks that an indexer compares with the log when it starts. */
const comparedBlocks = 2;
const percents = [50, 95, 99];
const slower = { unit: "ratio", atMost: 1.2 } as const;

type Latencies = Record<"before" | "during" | "after", number[]>;

/**
 * An operator adds Blur to an installation with `facts` facts of Seaport's fills and of transfers, while it is read. Then
 * another installation has it from its start: throws unless both hold the same, or if anything else was fetched again.
 */
export async function run({ facts }: { facts: number }): Promise<Figure[]> {
  const node = await startNode({ facts });
  const orphanGuard = startOrphanGuard();
  const serving = (url: string) =>
    ({
      ...{ url, orphanGuard, chains: [{ chainId, rpcUrl: node.url }], readyWithinMs },
      roles: ["indexer", "projector", "api"],
    }) as const;
  try {
    return await withDatabase(async (db, url) => {
      await sql`create database whole`.execute(db);
      const wholeUrl = url.replace(/\/[^/]*$/, "/whole");
      const whole = openDatabase({
        url: wholeUrl,
        applicationName: "bench",
        onIdleError: () => {},
      });
      try {
        await migrate(whole);
        await beginWithout(db);
        let startedMs = performance.now();
        const firstStartsMs: number[] = [];
        const started = () => firstStartsMs.push(performance.now() - startedMs);
        const latencies = await serve(serving(url), async (baseUrl, settings) => {
          started();
          return await addWhileRead(db, { node, baseUrl, settings });
        });
        startedMs = performance.now();
        await serve(serving(wholeUrl), async () => {
          started();
          await untilComplete(whole, await countFacts(db));
        });
        await expectEqual(db, whole);
        return figuresOf(latencies, firstStartsMs, facts, node);
      } finally {
        await whole.destroy();
      }
    });
  } finally {
    orphanGuard.killAll();
    await node.stop();
  }
}

/** As if an operator had removed the exchange before the first start. */
async function beginWithout(db: Database): Promise<void> {
  const sources = addableExchanges(chainId).filter(({ protocol }) => protocol === exchange);
  const added = sources.map(({ protocol, eventSources }) => ({
    ...{ source: protocol, indexer: protocol, eventSources, address: null, firstBlock: null },
    addedBy: "configuration" as const,
  }));
  await addSources(db, chainId, added);
  await removeSource(db, chainId, exchange, "operator");
}

type Reading = { node: ChainNode; baseUrl: string; settings: Record<string, string> };

async function addWhileRead(
  db: Database,
  { node, baseUrl, settings }: Reading,
): Promise<Latencies> {
  await readUntil(baseUrl, AbortSignal.timeout(warmUpMs));
  const before = await readUntil(baseUrl, AbortSignal.timeout(restMs));
  await node.takeRequests();
  const ending = new AbortController();
  const reading = readUntil(baseUrl, ending.signal);
  const addedMs = await timed(async () => {
    await addSource(settings);
    await untilAdded(db, node);
  }).finally(() => ending.abort());
  const during = await reading;
  await expectNothingElse(node);
  process.stderr.write(`${exchange} was added in ${Math.round(addedMs / 1_000)} s\n`);
  const after = await readUntil(baseUrl, AbortSignal.timeout(restMs));
  return { before, during, after };
}

async function addSource(settings: Record<string, string>): Promise<void> {
  const environment = { PATH: process.env.PATH, HOME: process.env.HOME, ...settings };
  const command = launch("op", "sources", "add", exchange, "--chain", `${chainId}`);
  const stdio = ["ignore", "ignore", "inherit"] as const;
  const child = spawn(process.execPath, command, { env: environment, stdio: [...stdio] });
  const [code] = (await once(child, "exit")) as [number];
  if (code !== 0) throw new Error(`op sources add exited with ${code}`);
}

/** Until its history is in the log, and every projection has it. */
async function untilAdded(db: Database, { lastBlock, blurSales }: ChainNode): Promise<void> {
  await until(
    "the exchange's history",
    async () => {
      const states = await readIndexerStates(db, chainId, null);
      const added = states.find(({ indexer }) => indexer === exchange);
      if (added?.state !== "following" || (added.indexed ?? 0) < lastBlock) return false;
      return await hasProjectionsWithin(db, 0);
    },
    readyWithinMs,
  );
  const { rows } = await sql<{ sales: bigint }>`
    select count(*) as sales from sales.sale where protocol = ${exchange}`.execute(db);
  const sales = Number(rows[0]?.sales);
  if (sales !== blurSales) throw new Error(`${sales} sales of ${blurSales} are there`);
}

/** Until all of so many facts are in the log, and every projection has them. */
async function untilComplete(db: Database, facts: number): Promise<void> {
  const isComplete = async () =>
    (await countFacts(db)) === facts && (await hasProjectionsWithin(db, 0));
  await until("all facts", isComplete, readyWithinMs);
}

async function countFacts(db: Database): Promise<number> {
  const { rows } = await sql<{ facts: bigint }>`select count(*) as facts from log.fact`.execute(db);
  return Number(rows[0]?.facts);
}

async function expectNothingElse(node: ChainNode): Promise<void> {
  const requests = await node.takeRequests();
  process.stderr.write(`fetched of final blocks: ${JSON.stringify(requests)}\n`);
  const { otherRanges, otherBlocks, otherReceipts } = requests;
  const isMore = otherBlocks > comparedBlocks || otherRanges + otherReceipts > 0;
  if (isMore) throw new Error("more was fetched again");
}

function figuresOf(
  { before, during, after }: Latencies,
  firstStartsMs: readonly number[],
  facts: number,
  { blurSales }: ChainNode,
): Figure[] {
  const size = `${facts} facts of Seaport and transfers, ${blurSales} sales of Blur`;
  const percentiles = percents.map((percent) => ({ percent, goalMs: null }));
  const alone = [...before, ...after];
  const [rest, busy] = [alone, during].map((ms) => percentileFigures("", ms, percentiles, size));
  const ratios = percents.map((percent, index) => {
    const times = (busy?.[index]?.value ?? Number.NaN) / (rest?.[index]?.value ?? Number.NaN);
    return medianFigure(`added exchange, reads p${percent}, of alone`, [times], slower, size);
  });
  const rates = firstStartsMs.map((ms) => facts / (ms / 1_000));
  return [
    ...percentileFigures("added exchange, reads alone", alone, percentiles, size),
    ...percentileFigures("added exchange, reads meanwhile", during, percentiles, size),
    ...ratios,
    medianFigure("added exchange, first start until ready", rates, { unit: "facts/s" }, size),
  ];
}
