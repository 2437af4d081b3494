import type { Database } from "#projections/log/database.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import { areCollectionsAtLeastAt } from "#projections/collections/read-undescribed-contracts.ts";
import type { ChainClient } from "#jobs/chain/client.ts";
import type { Job, Waker } from "../log-signal/job.ts";
import { fetchDueRoyalties, type RoyaltyState } from "./fetch-due-royalties.ts";
import { unansweredContracts } from "./unanswered-contracts.ts";

const pollMs = 5_000;

type RoyaltyOptions = {
  db: Database;
  client: ChainClient;
  /** Notified when the projections have advanced. */
  changeSignal: Waker;
  now: () => Date;
};

/**
 * Fetches the ERC-2981 royalty of each new contract of a chain, of those that orders found changed, and of all once a day.
 * Only changes are appended.
 */
export function royaltyFetches(options: RoyaltyOptions): Job {
  const { db, client, changeSignal } = options;
  let state: RoyaltyState | undefined;
  return {
    name: "royalties",
    about: { chainId: client.chainId },
    every: pollMs,
    wakesOn: changeSignal,
    reads: ["collections", "ownership"],
    async run() {
      // Waits until readings appended before this process started are applied: no contract is read twice.
      state ??= { head: await readLogHead(db), unanswered: unansweredContracts() };
      if (!(await areCollectionsAtLeastAt(db, state.head))) return undefined;
      return (await fetchDueRoyalties(options, state)) > 0 ? "more" : undefined;
    },
  };
}
