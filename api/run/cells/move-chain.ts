import { setTimeout as delay } from "node:timers/promises";
import { type Target, targetOf } from "../../../projections/engine/checkpoint.ts";
import type { Projection } from "../../../projections/engine/projection.ts";
import { prepareProjections } from "../../../projections/engine/rebuild.ts";
import { tick } from "../../../projections/engine/tick.ts";
import { beginArrival, moveLogEnd, readArrived } from "../../../projections/log/cells/arrival.ts";
import type { ChainMove } from "../../../projections/log/cells/chain-move.ts";
import { copyStep } from "../../../projections/log/cells/copy-log.ts";
import { copyExactState, copySlowState } from "../../../projections/log/cells/copy-state.ts";
import {
  beginDeparture,
  closeChain,
  finishDeparture,
  reopenChain,
} from "../../../projections/log/cells/departure.ts";
import { readLogHead } from "../../../projections/log/read-log-head.ts";
import { readIndexerNames } from "../../../projections/log/sources.ts";
import { readIndexedBlocks } from "../../../projections/log/status.ts";
import { isLockHeld, withLock } from "../../../projections/named-lock.ts";
import { bindViews, bindViewsIfStale } from "../../../projections/reads/analytics/bind-views.ts";
import { applyRights } from "../database-roles/apply-rights.ts";
import { readDatabaseRoles } from "../database-roles/database-roles.ts";

export type MoveStep = {
  readonly task: "copying facts" | "deriving projections" | "waiting for the indexer" | "switching";
  readonly done: bigint;
  readonly total: bigint;
};

export type MoveOptions = ChainMove & {
  readonly projections: readonly Projection[];
  /** Whether the chain's indexer must follow new blocks in the new database before anything is switched. */
  readonly awaitsIndexer: boolean;
  readonly onStep: (step: MoveStep) => void;
};

export type Moved = {
  /** The position of the last fact that both logs have. */
  readonly position: bigint;
  /** For how long the chain took no facts; 0: it was moved before. */
  readonly pausedMs: number;
};

/** The log opens again after this time, whatever becomes of the move. */
const closedSeconds = 8;
const maxSwitches = 10;
/**
 * The new log goes on so far behind the old one. An API that has not noticed the move answers from the old log, which
 * goes on for other chains: its positions and cursors must not be ahead of facts of the new one.
 */
const positionGap = 10_000_000n;
/** The switch is tried when no more facts than this are left. */
const fewFacts = 500n;
const pollMs = 500;
/** An indexer follows the chain when it is no further behind the other one. */
const indexerLagSeconds = 10;
/** The server may take so long to notice that a command was killed. */
const lockWaitMs = 5_000;

/**
 * Moves a chain from the database that it shares to its own while everything goes on. Killed and run again, it goes on
 * where it was. Only at its end the chain takes no facts for some seconds.
 */
export async function moveChain(options: MoveOptions): Promise<Moved> {
  const { chainId, from } = options;
  let isAlone = false;
  const work = async () => {
    isAlone = true;
    return await moveAlone(options);
  };
  try {
    return await withLock(from, `move of chain ${chainId}`, work, { waitMs: lockWaitMs });
  } catch (error) {
    if (isAlone || !isLockHeld(error)) throw error;
    throw new Error(`another process moves chain ${chainId} now`, { cause: error });
  }
}

async function moveAlone(options: MoveOptions): Promise<Moved> {
  const { chainId, from, to } = options;
  const { moveId, isDone } = await beginDeparture(from, chainId);
  if (isDone) return { position: await readArrived(options), pausedMs: 0 };
  await reopenChain(from, chainId);
  await beginArrival(options, moveId);
  const arrived = await readArrived(options);
  await moveLogEnd(to, [arrived, arrived + positionGap], arrived);
  await copySlowState(options);
  await copyFacts(options);
  await derive(options);
  await catchUp(options);
  if (options.awaitsIndexer) await awaitIndexers(options);
  await copySlowState(options);
  for (let tries = 1; ; tries += 1) {
    await catchUp(options);
    options.onStep({ task: "switching", done: 0n, total: 1n });
    const moved = await switchDatabase(options);
    if (moved !== null) return moved;
    if (tries === maxSwitches)
      throw new Error(`the last facts took longer than ${closedSeconds} s to copy, each time`);
  }
}

/** Makes the projections of the new database, which each process may read and write as it must after the switch. */
async function derive({ to, projections, onStep }: MoveOptions): Promise<void> {
  onStep({ task: "deriving projections", done: 0n, total: await readLogHead(to) });
  await prepareProjections(to, projections, () => {}, bindViews);
  await to.transaction().execute(bindViewsIfStale);
  const roles = await readDatabaseRoles(to);
  if (roles !== null) await applyRights(to, roles);
}

/** Null: it took too long, so that the chain goes on as before. */
async function switchDatabase(options: MoveOptions): Promise<Moved | null> {
  const { chainId, from, to } = options;
  const startedAt = performance.now();
  try {
    const closing = await closeChain(from, chainId, closedSeconds);
    const { position } = closing;
    await copyFacts(options, position);
    await applyAll(options);
    await copyExactState(options);
    await moveLogEnd(to, [position], position + positionGap);
    const isDone = await finishDeparture(from, chainId, closing);
    if (!isDone) {
      await moveLogEnd(to, [position + positionGap], position);
      return null;
    }
    return { position, pausedMs: Math.round(performance.now() - startedAt) };
  } finally {
    await reopenChain(from, chainId);
  }
}

/** Copies and derives until few facts are left. */
async function catchUp(options: MoveOptions): Promise<void> {
  for (;;) {
    await copyFacts(options);
    await applyAll(options);
    const left = (await readLogHead(options.from)) - (await readArrived(options));
    if (left <= fewFacts) return;
  }
}

async function copyFacts(options: MoveOptions, limit?: bigint): Promise<void> {
  const { from, onStep } = options;
  for (;;) {
    const total = limit ?? (await readLogHead(from));
    const done = await copyStep(options, total);
    onStep({ task: "copying facts", done, total });
    if (done >= total) return;
  }
}

/** Brings the projections of the new database to the end of its log. */
async function applyAll({ to, projections }: MoveOptions): Promise<void> {
  const targets: Target[] = projections.map(targetOf);
  for (;;) {
    const { outcome } = await tick(to, targets);
    if (outcome === "idle") return;
  }
}

/**
 * Waits until each of the chain's indexers has indexed in the new database what it has in the old one. Of that one alone
 * is recorded until the switch. Of one whose sources were removed there is nothing to follow.
 */
async function awaitIndexers(options: MoveOptions): Promise<void> {
  const { chainId, from, onStep } = options;
  for (;;) {
    const names = await readIndexerNames(from, chainId);
    const follow = await Promise.all(names.map((name) => hasFollowed(options, name)));
    const done = follow.filter(Boolean).length;
    if (done === names.length) return;
    onStep({
      task: "waiting for the indexer",
      done: BigInt(done),
      total: BigInt(names.length),
    });
    await catchUp(options);
    await delay(pollMs);
  }
}

async function hasFollowed({ chainId, from, to }: MoveOptions, name: string): Promise<boolean> {
  const before = await readIndexedBlocks(from, chainId, name);
  const now = await readIndexedBlocks(to, chainId, name);
  if (before === null) return true;
  return now !== null && now.indexed.timestamp >= before.indexed.timestamp - indexerLagSeconds;
}
