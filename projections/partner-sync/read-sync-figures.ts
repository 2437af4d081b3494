import { sql } from "kysely";
import type { Database } from "../database.ts";

export type SyncFigures = {
  collections: {
    marketplace: string;
    /** Contracts whose listings the partner is asked for. */
    contracts: number;
    /** Those of them that were never read to their end. */
    unread: number;
    /** Since the end of the full pass that is longest ago. */
    oldestSeconds: number | null;
  }[];
  skipped: { marketplace: string; reason: string; entries: bigint }[];
};

/** How far the listings of partners are taken in, and how many entries were left out. */
export async function readSyncFigures(db: Database): Promise<SyncFigures> {
  const [collections, skipped] = await Promise.all([
    sql<SyncFigures["collections"][number]>`
      select marketplace, count(*)::int as contracts,
             (count(*) filter (where full_at is null))::int as unread,
             extract(epoch from now() - min(full_at))::float8 as "oldestSeconds"
      from ops.partner_collection where slug is not null or described_at is null
      group by marketplace`.execute(db),
    sql<SyncFigures["skipped"][number]>`
      select marketplace, reason, entries from ops.partner_skip`.execute(db),
  ]);
  return { collections: collections.rows, skipped: skipped.rows };
}
