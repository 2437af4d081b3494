import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { BlockPlan } from "#test/reliability/chain/contents.ts";
import { usualBlocks } from "#test/reliability/chain/provable-chain.ts";
import { measure } from "#test/reliability/checks/head-latency.ts";
import { envio } from "#test/reliability/subjects/envio.ts";
import { ours } from "#test/reliability/subjects/ours.ts";
import { plainPonder } from "#test/reliability/subjects/plain-ponder.ts";
import { recordOf } from "#test/reliability/subjects/record.ts";
import { squid } from "#test/reliability/subjects/squid.ts";
import type { Subject } from "#test/reliability/subjects/subject.ts";
import { holds, type Trial, withTrial } from "#test/reliability/trial.ts";
import { type Figure, medianFigure } from "./figure.ts";
import { memoryOf } from "./memory.ts";
import { descendantsMs } from "./ponder/processor.ts";

const subjects: readonly Subject[] = [ours, plainPonder, envio, squid];
/** To be repeated on another day: order of finishers, not figures, is what must hold. */
const rounds = 1;
/** Events of a block of the history: its mints beside the usual mint and move. */
const moreMints = 18;
const eventsOfBlock = 20;
const nextBlockMs = 2_000;
const shortHistory = 200;
const liveBlocks = 60;
const liveEveryMs = 1_000;
const reorgDepth = 20;
const recoversWithinSeconds = 60;
const missedBlocks = 200;
const withinSeconds = 1_800;
const mostEvents = 200_000;

/** Of one life of one subject. */
type Life = {
  readonly backfill: { seconds: number; processorSeconds: number; requests: number };
  /** At the end of the backfill, memory without PostgreSQL. */
  readonly megabytes: { memory: number; disk: number };
  readonly head: { p50: number; p99: number };
  /** Infinite: not right within a minute. */
  readonly restartSeconds: number;
  readonly reorgSeconds: number;
};

/**
 * The same chain behind the same node for each of those that people choose between, in turns: owners, holders and sales
 * from nothing, at the head, through a reorg and a restart. Each result is compared with the chain before its time counts.
 */
export async function run({ facts }: { facts: number }): Promise<Figure[]> {
  const blocks = Math.ceil(Math.min(facts, mostEvents) / eventsOfBlock);
  const lives = new Map<Subject, Life[]>(subjects.map((subject) => [subject, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [subject, measured] of lives) {
      measured.push(await live(subject, blocks));
      const { backfill, head } = measured.at(-1) as Life;
      process.stderr.write(
        `peers: ${subject.name} ${backfill.seconds.toFixed(1)} s, head p50 ${head.p50} ms\n`,
      );
    }
  }
  const size = `${blocks * eventsOfBlock} events in ${blocks} blocks`;
  return [...lives].flatMap(([subject, measured]) =>
    figuresOf(subject, measured, { size, events: blocks * eventsOfBlock }),
  );
}

async function live(subject: Subject, blocks: number): Promise<Life> {
  const backfilled = await withChain(subject, dense(blocks), async (trial) => {
    const backfill = await measureBackfill(trial);
    const { all: memory } = await memoryOf(trial.running().pid, []);
    return { backfill, megabytes: { memory, disk: await readDisk(trial) } };
  });
  // Behind a short history: to look whether a block is stored costs more, the more there is.
  const followed = await withChain(subject, usualBlocks(shortHistory), async (trial) => {
    await trial.start();
    await expectRight(trial);
    const head = await measure(trial, liveBlocks, liveEveryMs);
    if (!head.isComplete) throw new Error(`${subject.name} did not follow the head`);
    const restartSeconds = await measureRestart(trial);
    return { head, restartSeconds, reorgSeconds: await measureReorg(trial) };
  });
  return { ...backfilled, ...followed };
}

const dense = (blocks: number) => Array.from({ length: blocks }, () => ({ moreMints }));

async function withChain<Result>(
  subject: Subject,
  history: readonly BlockPlan[],
  run: (trial: Trial) => Promise<Result>,
): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), "bench-peers-"));
  try {
    return await withTrial({ subject, directory, history }, run);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** From an empty database until the last event is stored and its owner known. */
async function measureBackfill(trial: Trial): Promise<Life["backfill"]> {
  const { transfers } = recordOf(trial.chain.blocks());
  const head = trial.chain.head().number;
  const { requests } = trial.node.counts;
  const [startedAt, spent] = [performance.now(), descendantsMs(process.pid)];
  // Plain Ponder learns of the last blocks from the next one.
  const endFollowing = trial.follow(nextBlockMs);
  await trial.start();
  await expectSoon(trial, async () => {
    const progress = await trial.progress();
    return progress !== null && progress.rows >= transfers.length && progress.ownersAt >= head;
  });
  endFollowing();
  const seconds = (performance.now() - startedAt) / 1_000;
  const processorSeconds = (descendantsMs(process.pid) - spent) / 1_000;
  const asked = trial.node.counts.requests - requests;
  await expectRight(trial);
  return { seconds, processorSeconds, requests: asked };
}

/** Until the log of the new branch is stored, and nothing of the old one. */
async function measureReorg(trial: Trial): Promise<number> {
  const startedAt = performance.now();
  trial.chain.replace(reorgDepth, usualBlocks(reorgDepth + 1));
  return await secondsUntilRight(trial, startedAt);
}

/** Stopped in order, and started once the chain has gone on. */
async function measureRestart(trial: Trial): Promise<number> {
  await trial.running().stop();
  trial.chain.add(usualBlocks(missedBlocks));
  const startedAt = performance.now();
  await trial.start();
  return await secondsUntilRight(trial, startedAt);
}

async function secondsUntilRight(trial: Trial, startedAt: number): Promise<number> {
  const { isRight, seen } = await trial.untilClean(recoversWithinSeconds);
  if (isRight) return (performance.now() - startedAt) / 1_000;
  process.stderr.write(`peers: ${trial.subject.name} is not right ${seen}\n`);
  return Number.POSITIVE_INFINITY;
}

async function expectRight(trial: Trial): Promise<void> {
  const { isRight, seen } = await trial.untilClean(withinSeconds);
  if (!isRight) throw new Error(`${trial.subject.name} differs from the chain: ${seen}`);
}

async function expectSoon(trial: Trial, condition: () => Promise<boolean>): Promise<void> {
  const isIn = await holds(withinSeconds, condition);
  if (!isIn) throw new Error(`${trial.subject.name} did not come to the end`);
}

async function readDisk({ server }: Trial): Promise<number> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    const { rows } = await client.query("select pg_database_size(current_database()) as bytes");
    return Number(rows[0].bytes) / 1e6;
  } finally {
    await client.end();
  }
}

function figuresOf(
  { name }: Subject,
  lives: readonly Life[],
  { size, events }: { size: string; events: number },
): Figure[] {
  const figure = (what: string, unit: Figure["unit"], of: (life: Life) => number) =>
    medianFigure(`peers, ${name}, ${what}`, lives.map(of), { unit }, size);
  const perMillion = (value: number) => (value * 1e6) / events;
  return [
    figure("backfill", "facts/s", ({ backfill }) => events / backfill.seconds),
    figure("processor time of a million events", "s", ({ backfill }) =>
      perMillion(backfill.processorSeconds),
    ),
    figure("requests of a million events", "requests", ({ backfill }) =>
      perMillion(backfill.requests),
    ),
    figure("memory of its processes", "MB", ({ megabytes }) => megabytes.memory),
    figure("database", "MB", ({ megabytes }) => megabytes.disk),
    figure("block → row, p50", "ms", ({ head }) => head.p50),
    figure("block → row, p99", "ms", ({ head }) => head.p99),
    figure(`restart behind ${missedBlocks} blocks`, "s", ({ restartSeconds }) => restartSeconds),
    figure(`a reorg of ${reorgDepth} blocks`, "s", ({ reorgSeconds }) => reorgSeconds),
  ];
}
