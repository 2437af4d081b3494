import { sql } from "kysely";
import type { Address, Hex } from "viem";
import type { ChainId } from "#chains/index.ts";
import { type PartnerName, partnerNames } from "../domain/partners.ts";
import type { Database } from "../log/database.ts";

/** The partner's slugs of all synchronised collections. */
export async function readSyncedSlugs(
  db: Database,
  marketplace: PartnerName,
  chainIds: readonly ChainId[],
): Promise<Set<string>> {
  const { rows } = await sql<{ slug: string }>`
    select distinct slug from ops.partner_collection
    where marketplace = ${marketplace} and chain_id = any (${[...chainIds]}::int[]) and slug is not null
    order by slug`.execute(db);
  return new Set(rows.map(({ slug }) => slug));
}

type PartnerChain = { marketplace: PartnerName; chainId: ChainId };

/** Recipients of creator fees of a slug's contracts on one chain, according to any partner. */
export async function readCreators(
  db: Database,
  { marketplace, chainId }: PartnerChain,
  slug: string,
): Promise<Address[]> {
  const { rows } = await sql<{ recipient: Address }>`
    select distinct fee ->> 'recipient' as recipient
    from ops.partner_collection named
    join ops.partner_collection source using (chain_id, contract)
    cross join lateral jsonb_array_elements(source.fees) fee
    where named.marketplace = ${marketplace} and named.chain_id = ${chainId} and named.slug = ${slug}
      and source.marketplace = any (${[...partnerNames]}::text[]) and source.fees is not null`.execute(
    db,
  );
  return rows.map(({ recipient }) => recipient);
}

/** Whether a row is stored for this listing: the partner has shown it, and it has not ended. */
export async function isKnownListing(
  db: Database,
  { marketplace, chainId }: PartnerChain,
  orderHash: Hex,
): Promise<boolean> {
  const { rows } = await sql`
    select from ops.partner_listing
    where marketplace = ${marketplace} and chain_id = ${chainId}
      and order_hash = ${Buffer.from(orderHash.slice(2), "hex")}`.execute(db);
  return rows.length > 0;
}

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
