import type { Logger } from "pino";
import type { Database } from "../../../projections/database.ts";
import { readLogHead } from "../../../projections/log/read-log-head.ts";
import { areCollectionsAtLeastAt } from "../../../projections/reads/collections/read-contracts-without-description.ts";
import type { ChainClient } from "../chain/clients.ts";
import { backOff } from "../log-signal/back-off.ts";
import { logFailure } from "../log-signal/log-failure.ts";
import type { Signal } from "../log-signal/signal.ts";
import { type DescribeState, describePending } from "./describe-pending.ts";
import { unansweredContracts } from "./unanswered-contracts.ts";

const pollMs = 5_000;

type DescribeOptions = {
  db: Database;
  client: ChainClient;
  /** Notified when the projections have advanced. */
  changeSignal: Pick<Signal, "wait">;
  logger: Logger;
  signal: AbortSignal;
};

/** Reads name, symbol and standard of each new contract of a chain. Backs off while the chain's RPC or the database fails. */
export async function runContractDescriptions(options: DescribeOptions): Promise<void> {
  const { db, changeSignal, signal } = options;
  // Waits until descriptions appended before this process started are applied: no contract is read twice.
  const state: DescribeState = { head: await readLogHead(db), unanswered: unansweredContracts() };
  let failures = 0;
  while (!signal.aborted) {
    failures = (await describeOnce(options, state)) ? 0 : failures + 1;
    if (failures === 0) await changeSignal.wait(pollMs, signal);
    else await backOff(failures, signal);
  }
}

async function describeOnce(
  { db, client, logger, signal }: DescribeOptions,
  state: DescribeState,
): Promise<boolean> {
  const { chainId } = client;
  try {
    if (!(await areCollectionsAtLeastAt(db, state.head))) return true;
    const described = await describePending(db, client, state, signal);
    if (described > 0) logger.debug({ chainId, contracts: described }, "contracts described");
    return true;
  } catch (error) {
    logFailure(logger, { chainId }, error, "describing contracts failed, retrying");
    return false;
  }
}
