import type { ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { type OrphanGuard, startOrphanGuard } from "#ops/processes/child.ts";
import { openDatabase } from "#projections/log/database.ts";
import { type OwnServer, openOwnServer } from "../support/database/own-server.ts";
import { keepRole, pipelineSettings } from "../support/database/pipeline.ts";
import { openStandby } from "../support/database/standby.ts";
import { type Figure, medianFigure } from "./figure.ts";
import { chainId } from "./market/collections.ts";
import { withMarket } from "./market/data.ts";
import { addressOf, hotLists, readSample } from "./market/lists.ts";
import type { LoadFigures } from "./ponder/load.ts";
import { openLoader, runLoad } from "./ponder/loader.ts";
import { findPostmaster, processorMs } from "./ponder/processor.ts";
import { limitProcessor, type ProcessorQuota } from "./processor-quota.ts";

const processes = [1, 2, 3] as const;
const rounds = 5;
const seconds = 8;
/** Without a limit, until the code that requests need is compiled. */
const warmUpSeconds = 20;
/** Of a core that each process of the API may use: three of them, PostgreSQL and the callers fit on two cores. */
const share = 0.2;
const connections = 4;
const requestsOfList = 40;
const stopMs = 8_000;

/** Answered per second, and of cores: by PostgreSQL, and by one process of the API. */
type Rate = { answers: number; database: number; process: number };

type Reader = {
  baseUrl: string;
  pid: number;
  caller: ChildProcess;
  limit(): void;
  stop(): Promise<void>;
};

/** Answers made by one, two and three processes of the API over one standby, each within the same share of a core. */
export async function run({ scale }: { scale: number }): Promise<Figure[]> {
  const directory = await mkdtemp(join(tmpdir(), "bench-"));
  const orphanGuard = startOrphanGuard();
  const ending: (() => Promise<unknown>)[] = [
    async () => orphanGuard.killAll(),
    () => rm(directory, { recursive: true, force: true }),
  ];
  try {
    const paths = await withMarket({ scale, directory }, async (db) => {
      const lists = hotLists(await readSample(db)).filter(({ isCached }) => !isCached);
      const turns = Array.from({ length: requestsOfList }, () => lists.map(({ next }) => next()));
      return turns
        .flat()
        .map(addressOf)
        .filter((path) => path.startsWith("/v1"));
    });
    const primary = await openOwnServer({ dataDir: directory, replicates: true });
    ending.push(() => primary.stop());
    const standby = await openStandby(primary);
    ending.push(() => standby.close());
    const readers: Reader[] = [];
    for (const _ of processes) {
      const reader = await openReader(primary, standby, orphanGuard);
      ending.push(() => reader.stop());
      readers.push(reader);
    }
    return figuresOf(await measure(readers, standby, paths), `${scale} of 5 000 000 tokens`);
  } finally {
    for (const end of ending.toReversed()) await end().catch(() => undefined);
  }
}

async function openReader(
  primary: OwnServer,
  standby: OwnServer,
  orphanGuard: OrphanGuard,
): Promise<Reader> {
  const settings = await pipelineSettings({
    databaseUrl: primary.url,
    chains: [{ chainId, rpcUrl: "http://127.0.0.1:9" }],
    settings: { DATABASE_READ_URLS: standby.url, LOG_LEVEL: "error" },
  });
  const sink = (line: string) => void process.stderr.write(`${line.trimEnd()}\n`);
  const role = await keepRole("api", { settings, orphanGuard, sink });
  await role.ready;
  let quota: ProcessorQuota | null = null;
  const caller = openLoader();
  return {
    baseUrl: `http://127.0.0.1:${settings.PORT}`,
    pid: role.pid(),
    caller,
    limit() {
      quota = limitProcessor(role.pid(), share);
    },
    async stop() {
      caller.disconnect();
      await role.stop(stopMs);
      await quota?.remove();
    },
  };
}

/** In turns, so that all meet the same machine. */
async function measure(
  readers: readonly Reader[],
  standby: OwnServer,
  paths: readonly string[],
): Promise<Rate[][]> {
  const db = openDatabase({ url: standby.url, applicationName: "bench", onIdleError: () => {} });
  try {
    const postmaster = await findPostmaster(db);
    const one = (count: number) => measureRate(readers.slice(0, count), postmaster, paths);
    await Promise.all(readers.map((reader) => callReader(reader, paths, warmUpSeconds)));
    for (const reader of readers) reader.limit();
    await one(readers.length);
    const rates: Rate[][] = processes.map(() => []);
    for (let round = 0; round < rounds; round += 1) {
      for (const [index, count] of processes.entries()) rates[index]?.push(await one(count));
    }
    return rates;
  } finally {
    await db.destroy();
  }
}

async function measureRate(
  readers: readonly Reader[],
  postmaster: number,
  paths: readonly string[],
): Promise<Rate> {
  const spent = () => ({
    database: processorMs(postmaster),
    processes: sum(readers.map(({ pid }) => processorMs(pid))),
  });
  const before = spent();
  const answered = await Promise.all(readers.map((reader) => callReader(reader, paths, seconds)));
  const after = spent();
  const ms = Math.max(...answered.map(({ tookMs }) => tookMs));
  return {
    answers: sum(answered.map(({ requests, tookMs }) => requests / (tookMs / 1_000))),
    database: (after.database - before.database) / ms,
    process: (after.processes - before.processes) / ms / readers.length,
  };
}

async function callReader(
  { caller, baseUrl }: Reader,
  paths: readonly string[],
  seconds: number,
): Promise<LoadFigures> {
  const requests = paths.map((path) => ({ path }));
  const load = { baseUrl, requests, isVaried: true, connections, seconds };
  return await runLoad(caller, load, [200]);
}

function figuresOf(rates: readonly Rate[][], market: string): Figure[] {
  const size = `${market}, ${share} of a core for each process, load ${loadavg()[0]?.toFixed(1)}`;
  const alone = rates[0] ?? [];
  return rates.flatMap((ofCount, index) => {
    const count = processes[index] ?? 0;
    const name = `readers, ${count} of the API's processes`;
    const linear = ofCount.map(({ answers }, round) => {
      return answers / (count * (alone[round]?.answers ?? Number.NaN));
    });
    const cores = (what: string, of: (rate: Rate) => number) =>
      medianFigure(`${name}, cores of ${what}`, ofCount.map(of), { unit: "ratio" }, size);
    return [
      medianFigure(
        name,
        ofCount.map(({ answers }) => answers),
        { unit: "requests/s" },
        size,
      ),
      medianFigure(`${name}, of linear`, linear, { unit: "ratio", atLeast: 0.8 }, size),
      cores("each", ({ process }) => process),
      cores("PostgreSQL", ({ database }) => database),
    ];
  });
}

const sum = (list: readonly number[]) => list.reduce((total, one) => total + one, 0);
