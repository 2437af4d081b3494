import type { Session } from "#projections/database.ts";
import type { IndexerId } from "../indexer-id.ts";
import type { TransferReader } from "./missing-transfers.ts";
import type { PoolCoinReader } from "./pool-coins.ts";
import type { CanonicalHashes } from "./reconcile.ts";

/** What an indexer's events are recorded with. */
export type Recording = IndexerId & {
  canonicalHashes: CanonicalHashes;
  /** Reads what some events are stored with; absent: none is. */
  transfers?: TransferReader;
  /** Reads what pools are paid in; absent: their events are stored without. */
  poolCoins?: PoolCoinReader;
  now: () => Date;
  /** Asked before each commit; throws when another process records by now. */
  fence: (session: Session) => Promise<void>;
  /** Events of the backlog that one transaction takes; absent: 10,000. */
  backlogEvents?: number;
  /** Transfers of receipts that one transaction stores, about; absent: 100,000. */
  passTransfers?: number;
  /** Told Ponder's schema before anything is read from it: each pass, as it may be another one. */
  onSchema?: (schema: string) => Promise<void>;
};
