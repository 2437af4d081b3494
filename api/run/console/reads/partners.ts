import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";

export type PartnerPasses = {
  marketplace: string;
  chainId: number;
  contracts: number;
  unread: number;
  /** Contracts whose next pass is overdue. */
  due: number;
  newestPass: Date | null;
  oldestPass: Date | null;
  listings: number;
};

/** How the listings of partners are synchronised. */
export async function readPartnerPasses(db: Database): Promise<PartnerPasses[]> {
  const { rows } = await sql<PartnerPasses>`
    select c.marketplace, c.chain_id as "chainId", count(*)::int as contracts,
           (count(*) filter (where full_at is null))::int as unread,
           (count(*) filter (where due_at < now()))::int as due,
           max(full_at) as "newestPass", min(full_at) as "oldestPass",
           (select count(*)::int from ops.partner_listing l
            where l.marketplace = c.marketplace and l.chain_id = c.chain_id and l.is_visible) as listings
    from ops.partner_collection c group by 1, 2 order by 1, 2`.execute(db);
  return rows;
}

export type PartnerSkips = {
  marketplace: string;
  reason: string;
  entries: bigint;
  lastPath: string;
  lastAt: Date;
};

/** Entries of partners' lists that were skipped, and why. */
export async function readPartnerSkips(db: Database): Promise<PartnerSkips[]> {
  const { rows } = await sql<PartnerSkips>`
    select marketplace, reason, entries, last_path as "lastPath", last_at as "lastAt"
    from ops.partner_skip order by last_at desc`.execute(db);
  return rows;
}
