import type { Database } from "../../../../projections/database.ts";
import type { FetchChainHead } from "../../inspection/fetch-chain-head.ts";
import type { InspectedConfig } from "../../inspection/inspected-config.ts";
import { readServiceProgress, type ServiceProgress } from "../../inspection/read-status.ts";

/** One of several databases. */
export type OtherDatabase = {
  /** The chain's id, or `accounts`. */
  readonly name: string;
  readonly db: Database;
  /** With the chains that it serves now. */
  readonly config: InspectedConfig;
};

export type OtherProgress = {
  readonly name: string;
  readonly chains: readonly number[];
  /** Null: it does not answer, or has no log. */
  readonly progress: ServiceProgress | null;
};

/** How far the logs of the other databases are. */
export async function readOthers(
  others: readonly OtherDatabase[],
  fetchHead: FetchChainHead,
): Promise<OtherProgress[]> {
  return await Promise.all(
    others.map(async ({ name, db, config }) => {
      const chains = config.chains.map(({ chainId }) => chainId);
      const progress =
        chains.length === 0
          ? null
          : await readServiceProgress(db, config, fetchHead).catch(() => null);
      return { name, chains, progress };
    }),
  );
}
