import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import type { Database } from "../../../projections/database.ts";
import { readHead } from "../../../projections/engine/checkpoint.ts";
import { haveCollectionsReached } from "../../../projections/reads/collections/undescribed.ts";
import type { ChainClient } from "../chain/clients.ts";
import { RpcFailure } from "../chain/rpc-batch.ts";
import { describeContracts, type Progress } from "./describe-contracts.ts";

const pollMs = 2_000;
const postponeMs = 60_000;
const firstPauseMs = 1_000;
const longestPauseMs = 60_000;

type Work = {
  db: Database;
  client: ChainClient;
  /** Rung when the projections have moved. */
  wake: { wait(atMostMs: number, signal: AbortSignal): Promise<void> };
  logger: Logger;
  signal: AbortSignal;
};

/** Describes a chain's contracts as they turn up. A chain that cannot be asked is asked again, ever more slowly. */
export async function keepDescribing(work: Work): Promise<void> {
  const { db, wake, signal } = work;
  // Descriptions appended before this process started are folded before anything is asked again.
  const progress: Progress = { head: await readHead(db), postponed: new Set() };
  let postponedUntil = Date.now() + postponeMs;
  let failures = 0;
  while (!signal.aborted) {
    if (Date.now() > postponedUntil) {
      progress.postponed.clear();
      postponedUntil = Date.now() + postponeMs;
    }
    if (await haveCollectionsReached(db, progress.head)) {
      failures = (await tryPass(work, progress)) ? 0 : failures + 1;
    }
    if (failures === 0) await wake.wait(pollMs, signal);
    else await pause(Math.min(firstPauseMs * 2 ** (failures - 1), longestPauseMs), signal);
  }
}

async function tryPass({ db, client, logger, signal }: Work, progress: Progress): Promise<boolean> {
  const { chainId } = client;
  try {
    const described = await describeContracts(db, client, progress, signal);
    if (described > 0) logger.info({ chainId }, `described ${described} contracts`);
    return true;
  } catch (error) {
    if (!(error instanceof RpcFailure)) throw error;
    logger.warn({ chainId }, `contracts are not described, trying again: ${error.message}`);
    return false;
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
