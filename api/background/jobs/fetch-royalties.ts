import type { Logger } from "pino";
import type { Database } from "../../../projections/database.ts";
import { readLogHead } from "../../../projections/log/read-log-head.ts";
import { areCollectionsAtLeastAt } from "../../../projections/reads/collections/read-contracts-without-description.ts";
import type { ChainClient } from "../chain/clients.ts";
import { backOff } from "../log-signal/back-off.ts";
import { logFailure } from "../log-signal/log-failure.ts";
import type { Signal } from "../log-signal/signal.ts";
import { fetchDueRoyalties, type RoyaltyState } from "./fetch-due-royalties.ts";
import { unansweredContracts } from "./unanswered-contracts.ts";

const pollMs = 5_000;

type RoyaltyOptions = {
  db: Database;
  client: ChainClient;
  /** Notified when the projections have advanced. */
  changeSignal: Pick<Signal, "wait">;
  now: () => Date;
  logger: Logger;
  signal: AbortSignal;
};

/**
 * Fetches the ERC-2981 royalty of each new contract of a chain, of those that orders found changed, and of all once a day.
 * Only changes are appended. Backs off while the chain's RPC or the database fails.
 */
export async function runRoyaltyFetches(options: RoyaltyOptions): Promise<void> {
  const { db, changeSignal, signal } = options;
  // Waits until readings appended before this process started are applied: no contract is read twice.
  const state: RoyaltyState = { head: await readLogHead(db), unanswered: unansweredContracts() };
  let failures = 0;
  while (!signal.aborted) {
    const read = await fetchOnce(options, state);
    failures = read === null ? failures + 1 : 0;
    if (failures > 0) await backOff(failures, signal);
    else if (read === 0) await changeSignal.wait(pollMs, signal);
  }
}

/** Null: the chain's RPC or the database failed. */
async function fetchOnce(options: RoyaltyOptions, state: RoyaltyState): Promise<number | null> {
  const { db, client, logger } = options;
  const { chainId } = client;
  try {
    if (!(await areCollectionsAtLeastAt(db, state.head))) return 0;
    return await fetchDueRoyalties(options, state);
  } catch (error) {
    logFailure(logger, { chainId }, error, "fetching royalties failed, retrying");
    return null;
  }
}
