import type { Logger } from "pino";
import type { Database } from "#projections/log/database.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import { areCollectionsAtLeastAt } from "#projections/collections/read-undescribed-contracts.ts";
import type { ChainClient } from "#jobs/chain/client.ts";
import type { Job, Waker } from "../log-signal/job.ts";
import { type DescribeState, describePending } from "./describe-pending.ts";
import { unansweredContracts } from "./unanswered-contracts.ts";

const pollMs = 5_000;

type DescribeOptions = {
  db: Database;
  client: ChainClient;
  /** Notified when the projections have advanced. */
  changeSignal: Waker;
  logger: Logger;
};

/** Reads name, symbol and standard of each new contract of a chain. */
export function contractDescriptions({ db, client, changeSignal, logger }: DescribeOptions): Job {
  const { chainId } = client;
  let state: DescribeState | undefined;
  return {
    name: "contract descriptions",
    about: { chainId },
    every: pollMs,
    wakesOn: changeSignal,
    reads: ["collections"],
    async run(signal) {
      // Waits until descriptions appended before this process started are applied: no contract is read twice.
      state ??= { head: await readLogHead(db), unanswered: unansweredContracts() };
      if (!(await areCollectionsAtLeastAt(db, state.head))) return;
      const described = await describePending(db, client, state, signal);
      if (described > 0) logger.debug({ chainId, contracts: described }, "contracts described");
    },
  };
}
