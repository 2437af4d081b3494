import { sql } from "kysely";
import type { Database } from "../log/database.ts";

export type SyncMetrics = {
  collections: {
    marketplace: string;
    /** Contracts whose listings are synchronised. */
    contracts: number;
    /** Those without a finished full pass. */
    unread: number;
    /** Age of the oldest full pass. */
    oldestSeconds: number | null;
    /** Those whose creator fees wait for an operator. */
    held: number;
  }[];
  skipped: { marketplace: string; reason: string; entries: bigint }[];
};

/** Progress of synchronising partners' listings, and counts of skipped entries. */
export async function readSyncMetrics(db: Database): Promise<SyncMetrics> {
  const [collections, skipped] = await Promise.all([
    sql<SyncMetrics["collections"][number]>`
      select marketplace, count(*)::int as contracts,
             (count(*) filter (where full_at is null))::int as unread,
             (count(*) filter (where pending_reason is not null))::int as held,
             extract(epoch from now() - min(full_at))::float8 as "oldestSeconds"
      from ops.partner_collection where slug is not null or described_at is null
      group by marketplace`.execute(db),
    sql<SyncMetrics["skipped"][number]>`
      select marketplace, reason, entries from ops.partner_skip`.execute(db),
  ]);
  return { collections: collections.rows, skipped: skipped.rows };
}
