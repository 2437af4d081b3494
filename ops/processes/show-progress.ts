import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { openHeadReader } from "#jobs/chain/fetch-head.ts";
import { blockIdRange, readLogHead } from "#projections/log/blocks.ts";
import type { Database } from "#projections/log/database.ts";
import { barOf } from "../output/live-line.ts";
import type { SupervisorContext } from "./supervisor-context.ts";

const checkEveryMs = 250;
/** Between two readings: shown on one changing line of a terminal, or logged. */
const showEveryMs = { terminal: 500, log: 10_000 };

/** Shows how far recording is until the service is ready. */
export async function showProgressUntil(
  isReady: () => Promise<boolean>,
  readProgress: () => Promise<Progress>,
  { progress, logger, signal }: Pick<SupervisorContext, "progress" | "logger" | "signal">,
): Promise<void> {
  const everyMs = progress.isTerminal ? showEveryMs.terminal : showEveryMs.log;
  const withRate = openRate();
  let shownAt = performance.now();
  while (!(await isReady())) {
    await delay(checkEveryMs, undefined, { signal });
    if (performance.now() - shownAt < everyMs) continue;
    shownAt = performance.now();
    const current = await readProgress().catch(() => null);
    if (current === null) continue;
    const fields = withRate(current);
    if (progress.isTerminal) progress.show(lineOf(fields));
    else logger.info(fields, "catching up");
  }
  progress.clear();
}

type RatedProgress = Progress & {
  factsPerSecond: number;
  /** Of the chain that takes longest, at the pace of the newest readings; null: not known. */
  secondsLeft: number | null;
};

/** The pace is that of the newest readings: a start has phases of very different paces. */
const PACE_READINGS = 4;

/** Adds the rate since the reading before, and the time left. */
export function openRate(clock = () => performance.now()): (progress: Progress) => RatedProgress {
  const readings: { progress: Progress; at: number }[] = [];
  return (progress) => {
    const reading = { progress, at: clock() };
    const [oldest = reading] = readings;
    const before = readings.at(-1) ?? reading;
    readings.push(reading);
    if (readings.length > PACE_READINGS) readings.shift();
    const left = progress.chains.flatMap(
      ({ chainId }) => secondsLeft(chainId, oldest, reading) ?? [],
    );
    const seconds = (reading.at - before.at) / 1_000;
    return {
      ...progress,
      factsPerSecond:
        seconds > 0 ? Math.round((progress.facts - before.progress.facts) / seconds) : 0,
      secondsLeft: left.length === 0 ? null : Math.max(...left),
    };
  };
}

type Reading = { readonly progress: Progress; readonly at: number };

/** By how fast the distance to the chain's head shrinks; null where it does not. */
function secondsLeft(chainId: number, from: Reading, to: Reading): number | null {
  const [before, now] = [blocksBehind(chainId, from), blocksBehind(chainId, to)];
  if (before === null || now === null || now >= before) return null;
  return Math.ceil((now * (to.at - from.at)) / (before - now) / 1_000);
}

function blocksBehind(chainId: number, { progress }: Reading): number | null {
  const { block, head } = progress.chains.find((chain) => chain.chainId === chainId) ?? {};
  return typeof block === "number" && typeof head === "number" ? head - block : null;
}

function lineOf({ facts, factsPerSecond, secondsLeft, chains }: RatedProgress): string {
  const blocks = chains.map(
    ({ chainId, block, head }) =>
      `chain ${chainId}: ${barOf((block ?? 0) / (head || 1))} ${block ?? "-"}/${head ?? "-"}`,
  );
  const left = secondsLeft === null ? [] : [`about ${secondsLeft} s left`];
  return ["catching up", ...blocks, `${facts} facts (${factsPerSecond}/s)`, ...left].join("  ");
}

type ChainNodes = { chainId: number; rpcUrls: readonly string[] };

/** How far recording is. `block`: the highest block with facts; `head`: the chain's. Null: not known. */
type ChainProgress = { chainId: number; block: number | null; head: number | null };
type Progress = { facts: number; chains: ChainProgress[] };

/** Reads how far recording is, from the log and from the chains' nodes. */
export function openProgressReader(
  db: Database,
  chains: readonly ChainNodes[],
): () => Promise<Progress> {
  const limits = { timeoutMs: 2_000, maxAgeMs: 2_000, staleBlocks: 0 };
  const readers = chains.map(({ chainId, rpcUrls }) => ({
    chainId,
    readHead: openHeadReader({ chainId, rpcUrls, ...limits }),
  }));
  return async () => ({
    facts: Number(await readLogHead(db)),
    chains: await Promise.all(
      readers.map(async ({ chainId, readHead }) => {
        const [block, { head }] = await Promise.all([readHighestBlock(db, chainId), readHead()]);
        return { chainId, block, head: head?.number ?? null };
      }),
    ),
  });
}

async function readHighestBlock(db: Database, chainId: number): Promise<number | null> {
  const { from, to } = blockIdRange(chainId);
  const { rows } = await sql<{ number: bigint }>`
    select number from log.block where block_id >= ${from} and block_id < ${to}
    order by block_id desc limit 1`.execute(db);
  const number = rows[0]?.number;
  return number === undefined ? null : Number(number);
}
