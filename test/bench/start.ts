import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { coins } from "#chains/coins.ts";
import { type OrphanGuard, startOrphanGuard } from "#ops/processes/child.ts";
import { until } from "../support/database/pipeline.ts";
import { descendantsOf } from "../support/database/processes.ts";
import { startService } from "../support/processes/start-service.ts";
import { type Figure, medianFigure } from "./figure.ts";
import { memoryOf } from "./memory.ts";
import { processorMs } from "./ponder/processor.ts";

const rounds = 2;
/** After the start and the prices of the year before it, before anything is measured. */
const settleMs = 20_000;
const restMs = 60_000;
const settings = { DEVNET_MARKET: "off", OPERATOR_CONSOLE: "on" };

/** Seconds until ready, then megabytes and parts of a core at rest; `roles`: without PostgreSQL and the local chains. */
type Life = {
  readySeconds: number;
  megabytes: { all: number; roles: number };
  core: { service: number; localChains: number };
};

/** The whole service over local chains as `npm start` runs it, on an empty market: its first start, and its second. */
export async function run(): Promise<Figure[]> {
  const orphanGuard = startOrphanGuard();
  const lives: { first: Life; second: Life }[] = [];
  try {
    for (let round = 0; round < rounds; round += 1) {
      const dataDir = await mkdtemp(join(tmpdir(), "bench-"));
      const first = await live(dataDir, orphanGuard, coins.length);
      lives.push({ first, second: await live(dataDir, orphanGuard, 0) });
      await rm(dataDir, { recursive: true, force: true });
    }
  } finally {
    orphanGuard.killAll();
  }
  return figuresOf(lives);
}

async function live(dataDir: string, orphanGuard: OrphanGuard, histories: number): Promise<Life> {
  const startedAt = performance.now();
  const service = await startService({ dataDir, orphanGuard, settings });
  const readySeconds = (performance.now() - startedAt) / 1_000;
  const recorded = () => service.output.filter((line) => line.includes("price history recorded"));
  await until("the prices' history", async () => recorded().length >= histories);
  await delay(settleMs);
  const started = descendantsOf(service.pid);
  const pidOf = (pattern: RegExp) => {
    const found = started.find(({ command }) => pattern.test(command));
    if (found === undefined) throw new Error(`no process matches ${pattern}`);
    return found.pid;
  };
  const [postmaster, localChains] = [pidOf(/ -D .*port=/), pidOf(/ devnet /)];
  const spent = () => [processorMs(service.pid), processorMs(localChains)] as const;
  const [allBefore, chainsBefore] = spent();
  await delay(restMs);
  const [all, chains] = spent();
  const megabytes = {
    all: (await memoryOf(service.pid, [])).all,
    roles: (await memoryOf(service.pid, [postmaster, localChains])).all,
  };
  await service.end();
  const ofChains = (chains - chainsBefore) / restMs;
  const core = { service: (all - allBefore) / restMs - ofChains, localChains: ofChains };
  return { readySeconds, megabytes, core };
}

function figuresOf(lives: readonly { first: Life; second: Life }[]): Figure[] {
  const size = "empty market, with the operator's console";
  const figure = (
    name: string,
    goal: Parameters<typeof medianFigure>[2],
    values: readonly number[],
  ) => medianFigure(`start, ${name}`, values, goal, size);
  const both = lives.flatMap(({ first, second }) => [first, second]);
  return [
    figure(
      "first, until ready",
      { unit: "s", atMost: 15 },
      lives.map(({ first }) => first.readySeconds),
    ),
    figure(
      "second, until ready",
      { unit: "s", atMost: 8 },
      lives.map(({ second }) => second.readySeconds),
    ),
    figure(
      "memory of all roles",
      { unit: "MB", atMost: 1_200 },
      both.map(({ megabytes }) => megabytes.roles),
    ),
    figure(
      "memory with PostgreSQL's and the local chains'",
      { unit: "MB" },
      both.map(({ megabytes }) => megabytes.all),
    ),
    figure(
      "part of a core at rest, PostgreSQL included",
      { unit: "ratio", atMost: 0.05 },
      both.map(({ core }) => core.service),
    ),
    figure(
      "part of a core at rest, local chains",
      { unit: "ratio" },
      both.map(({ core }) => core.localChains),
    ),
  ];
}
