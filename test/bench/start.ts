import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type OrphanGuard, startOrphanGuard } from "../../api/run/supervisor/orphan-guard.ts";
import { descendantsOf } from "../support/database/processes.ts";
import { startService } from "../support/processes/start-service.ts";
import { type Figure, medianFigure } from "./figure.ts";
import { memoryOf } from "./memory.ts";
import { processorMs } from "./ponder/processor.ts";

const rounds = 2;
/** After the start, before anything is measured. */
const settleMs = 30_000;
const restMs = 30_000;
const settings = { DEVNET_MARKET: "off", OPERATOR_CONSOLE: "on" };

/** Seconds until ready, then megabytes and the part of a core at rest. */
type Life = { readySeconds: number; megabytes: number; withoutDatabase: number; core: number };

/** The whole service over local chains as `npm start` runs it, on an empty market: its first start, and its second. */
export async function run(): Promise<Figure[]> {
  const orphanGuard = startOrphanGuard();
  const lives: { first: Life; second: Life }[] = [];
  try {
    for (let round = 0; round < rounds; round += 1) {
      const dataDir = await mkdtemp(join(tmpdir(), "bench-"));
      const first = await live(dataDir, orphanGuard);
      lives.push({ first, second: await live(dataDir, orphanGuard) });
      await rm(dataDir, { recursive: true, force: true });
    }
  } finally {
    orphanGuard.killAll();
  }
  return figuresOf(lives);
}

async function live(dataDir: string, orphanGuard: OrphanGuard): Promise<Life> {
  const startedAt = performance.now();
  const service = await startService({ dataDir, orphanGuard, settings });
  const readySeconds = (performance.now() - startedAt) / 1_000;
  await delay(settleMs);
  const before = processorMs(service.pid);
  await delay(restMs);
  const core = (processorMs(service.pid) - before) / restMs;
  const postmaster = descendantsOf(service.pid).find(({ command }) => / -D .*port=/.test(command));
  const megabytes = await memoryOf(service.pid, null);
  const withoutDatabase = await memoryOf(service.pid, postmaster?.pid ?? null);
  await service.end();
  return { readySeconds, megabytes, withoutDatabase, core };
}

function figuresOf(lives: readonly { first: Life; second: Life }[]): Figure[] {
  const size = "empty market, local chains and the operator's console included";
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
      "memory of all processes but PostgreSQL's",
      { unit: "MB", atMost: 1_200 },
      both.map(({ withoutDatabase }) => withoutDatabase),
    ),
    figure(
      "memory of all processes",
      { unit: "MB" },
      both.map(({ megabytes }) => megabytes),
    ),
    figure(
      "part of a core at rest",
      { unit: "ratio", atMost: 0.05 },
      both.map(({ core }) => core),
    ),
  ];
}
