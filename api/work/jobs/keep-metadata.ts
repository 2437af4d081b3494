import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import type { Database } from "../../../projections/database.ts";
import { readHead } from "../../../projections/engine/checkpoint.ts";
import {
  type Choice,
  type DueSubject,
  hasMetadataReached,
  readDueAgain,
  readPendingContracts,
  readPendingTokens,
} from "../../../projections/reads/metadata/read-due.ts";
import type { ChainClient } from "../chain/clients.ts";
import { RpcFailure } from "../chain/rpc-batch.ts";
import { fetchDue, type Outcome } from "../metadata/fetch-due.ts";
import type { DocumentFetcher } from "../metadata/open-fetcher.ts";

const pollMs = 2_000;
const restMs = 5 * 60_000;
const firstPauseMs = 1_000;
const longestPauseMs = 60_000;

/** What one pass takes: the new ones of so many contracts in turn, and some of what is due again. */
const contractsAtOnce = 32;
const tokensAtOnce = 256;
const againAtOnce = 32;

type Work = {
  db: Database;
  client: ChainClient;
  fetcher: DocumentFetcher;
  /** Rung when the projections have moved. */
  wake: { wait(atMostMs: number, signal: AbortSignal): Promise<void> };
  now: () => Date;
  logger: Logger;
  signal: AbortSignal;
};

type Progress = {
  /** The log's end after the last fact was appended: what is due before that is folded is not known yet. */
  head: bigint;
  /** The contract whose turn was last. */
  turn: number;
  /** Contracts that are left alone, and until when. */
  resting: Map<number, number>;
};

/** Fetches the metadata of a chain's tokens and contracts as they turn up, and again from time to time. */
export async function keepMetadata(work: Work): Promise<void> {
  const { db, wake, signal } = work;
  // Facts appended before this process started are folded before anything is fetched again.
  const progress: Progress = { head: await readHead(db), turn: 0, resting: new Map() };
  let failures = 0;
  while (!signal.aborted) {
    let isDone = true;
    if (await hasMetadataReached(db, progress.head)) {
      const outcome = await tryPass(work, progress);
      failures = outcome === null ? failures + 1 : 0;
      isDone = outcome?.recorded === 0;
    }
    if (failures > 0)
      await pause(Math.min(firstPauseMs * 2 ** (failures - 1), longestPauseMs), signal);
    else if (isDone) await wake.wait(pollMs, signal);
  }
}

async function tryPass(work: Work, progress: Progress): Promise<Outcome | null> {
  const { client, logger } = work;
  try {
    const outcome = await fetchOnce(work, progress);
    if (outcome.recorded > 0) {
      logger.debug({ chainId: client.chainId }, `recorded metadata ${outcome.recorded} times`);
    }
    return outcome;
  } catch (error) {
    if (!(error instanceof RpcFailure)) throw error;
    logger.warn(
      { chainId: client.chainId },
      `metadata is not fetched, trying again: ${error.message}`,
    );
    return null;
  }
}

async function fetchOnce(work: Work, progress: Progress): Promise<Outcome> {
  const now = work.now();
  for (const [contractId, until] of progress.resting) {
    if (until <= now.getTime()) progress.resting.delete(contractId);
  }
  const outcome = await fetchDue(work, await readDue(work, progress, now));
  for (const contractId of outcome.unanswered) {
    progress.resting.set(contractId, now.getTime() + restMs);
  }
  if (outcome.recorded > 0) progress.head = outcome.head;
  return outcome;
}

async function readDue(work: Work, progress: Progress, now: Date): Promise<DueSubject[]> {
  const { db, client } = work;
  const choice = { chainId: client.chainId, now, resting: [...progress.resting.keys()] };
  const tokens = await readTurn(db, choice, progress);
  return [
    ...tokens,
    ...(await readPendingContracts(db, choice, contractsAtOnce)),
    ...(await readDueAgain(db, choice, againAtOnce)),
  ];
}

/** After the last contract it is the first one's turn again. */
async function readTurn(db: Database, choice: Choice, progress: Progress): Promise<DueSubject[]> {
  const sizes = { contracts: contractsAtOnce, limit: tokensAtOnce };
  const next = await readPendingTokens(db, choice, { after: progress.turn, ...sizes });
  const isAround = next.length === 0 && progress.turn > 0;
  const tokens = isAround ? await readPendingTokens(db, choice, { after: 0, ...sizes }) : next;
  progress.turn = tokens.at(-1)?.contractId ?? 0;
  return tokens;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
