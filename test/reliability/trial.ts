import { mkdir } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { type OrphanGuard, startOrphanGuard } from "#ops/processes/child.ts";
import type { BlockPlan } from "./chain/contents.ts";
import { growChain, type ProvableChain, usualBlocks } from "./chain/provable-chain.ts";
import type { Faults } from "./node/faults.ts";
import { startFaultyNode } from "./node/faulty-node.ts";
import type { FaultyNode } from "./node/node-state.ts";
import {
  compareRecords,
  describeDifference,
  isClean,
  type RecordDifference,
} from "./subjects/compare-records.ts";
import { openTrialServer, type TrialServer } from "./subjects/database-server.ts";
import { recordOf } from "./subjects/record.ts";
import type { RunningSubject, StoredProgress, Subject } from "./subjects/subject.ts";

export type TrialOptions = {
  readonly subject: Subject;
  /** Empty; logs stay there. */
  readonly directory: string;
  /** Blocks that are there at the start. */
  readonly history: readonly BlockPlan[];
  readonly shape?: Partial<Pick<ProvableChain, "chainId" | "style" | "blockSeconds" | "world">>;
  /** Nodes over the one chain, by what they do wrong. The websocket is the first one's. */
  readonly nodes?: readonly Partial<Faults>[];
  readonly hasSocket?: boolean;
  readonly roles?: readonly ("jobs" | "api")[];
};

/** A subject over a chain of its own, with a database of its own. */
export type Trial = {
  readonly chain: ProvableChain;
  readonly node: FaultyNode;
  readonly nodes: readonly FaultyNode[];
  readonly server: TrialServer;
  readonly subject: Subject;
  readonly directory: string;
  running(): RunningSubject;
  /** Starts the subject, at first or again. */
  start(): Promise<void>;
  /** Null while the database does not answer. */
  progress(): Promise<StoredProgress | null>;
  /** Against the chain as it is now. */
  difference(): Promise<RecordDifference>;
  /** Waits until all is as on the chain, and says after how many seconds, or what differs at the end. */
  untilClean(withinSeconds: number): Promise<Outcome>;
  /** Adds a block every so often until the returned function is called. */
  follow(everyMs: number): () => void;
};

export type Outcome = { readonly isRight: boolean; readonly seen: string };

/** Runs a trial and leaves nothing of it running. */
export async function withTrial<Result>(
  options: TrialOptions,
  run: (trial: Trial) => Promise<Result>,
): Promise<Result> {
  const orphanGuard = startOrphanGuard();
  await mkdir(options.directory, { recursive: true });
  const chain = growChain(options.history, options.shape);
  const server = await openTrialServer(orphanGuard);
  const nodes = await openNodes(chain, options.nodes ?? [{}]);
  const timers = new Set<NodeJS.Timeout>();
  const { trial, prepare, end } = openTrial({
    ...{ ...options, chain, server, nodes, orphanGuard, timers },
  });
  try {
    await prepare();
    return await run(trial);
  } finally {
    for (const timer of timers) clearInterval(timer);
    await end();
    await Promise.all(nodes.map((node) => node.close()));
    await server.close();
    orphanGuard.killAll();
  }
}

async function openNodes(
  chain: ProvableChain,
  faults: readonly Partial<Faults>[],
): Promise<FaultyNode[]> {
  const nodes: FaultyNode[] = [];
  for (const [index, given] of faults.entries()) {
    const node = await startFaultyNode(chain, index + 1);
    Object.assign(node.faults, given);
    nodes.push(node);
  }
  return nodes;
}

type Parts = Omit<TrialOptions, "nodes"> & {
  chain: ProvableChain;
  server: TrialServer;
  nodes: readonly FaultyNode[];
  orphanGuard: OrphanGuard;
  timers: Set<NodeJS.Timeout>;
};

/** While a check waits the chain goes on, as Ethereum does: some learn what they lack from the next block only. */
const nextBlockMs = 12_000;

function openTrial(parts: Parts): { trial: Trial; prepare(): Promise<void>; end(): Promise<void> } {
  const { subject, chain, server, nodes, timers, directory } = parts;
  const [node] = nodes;
  if (node === undefined) throw new Error("a trial needs a node");
  let running: RunningSubject | undefined;
  const settings = {
    ...{ directory, databaseUrl: server.url, chain, nodes, orphanGuard: parts.orphanGuard },
    ...{ hasSocket: parts.hasSocket ?? true, roles: parts.roles ?? [] },
  };
  const difference = async () =>
    compareRecords(
      await again(() => subject.read(server.url, chain.chainId)),
      recordOf(chain.blocks()),
    );
  const trial: Trial = {
    ...{ chain, node, nodes, server, subject, difference, directory },
    running() {
      if (running === undefined) throw new Error("the subject was not started");
      return running;
    },
    async start() {
      running = await subject.start(settings);
    },
    progress: () => subject.readProgress(server.url, chain.chainId).catch(() => null),
    async untilClean(withinSeconds) {
      const timer = setInterval(() => chain.add(usualBlocks(1)), nextBlockMs);
      timers.add(timer);
      return await untilClean(difference, withinSeconds).finally(() => clearInterval(timer));
    },
    follow(everyMs) {
      const timer = setInterval(() => chain.add(usualBlocks(1)), everyMs);
      timers.add(timer);
      return () => clearInterval(timer);
    },
  };
  const end = async () => {
    if (running !== undefined && !running.hasExited()) await endSoon(running);
  };
  return { trial, prepare: async () => subject.prepare?.(settings), end };
}

/** A busy machine may refuse a connection. */
async function again<Value>(read: () => Promise<Value>, times = 3): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    if (times === 1) throw error;
    await delay(1_000);
    return again(read, times - 1);
  }
}

const endsWithinMs = 20_000;

async function endSoon(running: RunningSubject): Promise<void> {
  await Promise.race([running.stop(), delay(endsWithinMs, undefined, { ref: false })]);
  if (!running.hasExited()) await running.kill();
}

async function untilClean(
  difference: () => Promise<RecordDifference>,
  withinSeconds: number,
): Promise<Outcome> {
  const startedAt = Date.now();
  let last = "nothing was read";
  const isRight = await holds(withinSeconds, async () => {
    const found = await difference().catch((error: Error) => error);
    last = found instanceof Error ? found.message : describeDifference(found);
    return !(found instanceof Error) && isClean(found);
  });
  const seconds = Math.round((Date.now() - startedAt) / 100) / 10;
  return { isRight, seen: isRight ? `right after ${seconds} s` : `after ${seconds} s: ${last}` };
}

/** Whether a condition holds at some moment within the time. Looking takes at most a third of it. */
export async function holds(
  withinSeconds: number,
  condition: () => Promise<boolean> | boolean,
): Promise<boolean> {
  const deadline = Date.now() + withinSeconds * 1_000;
  for (;;) {
    const startedAt = Date.now();
    if (await condition()) return true;
    const now = Date.now();
    if (now > deadline) return false;
    await delay(Math.min(1_000, Math.max(50, 2 * (now - startedAt))));
  }
}
