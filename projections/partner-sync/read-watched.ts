import { sql } from "kysely";
import type { Address, Hex } from "viem";
import type { ChainId } from "../../abis/deployments.ts";
import type { Database } from "../database.ts";
import { type PartnerName, partnerNames } from "../facts/partner-listing.ts";

/** The partner's names of all collections whose listings are taken in. */
export async function readWatchedSlugs(
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

type Named = { marketplace: PartnerName; chainId: ChainId };

/** Recipients of creator fees of a slug's contracts on one chain, whichever partner told them. */
export async function readCreators(
  db: Database,
  { marketplace, chainId }: Named,
  slug: string,
): Promise<Address[]> {
  const { rows } = await sql<{ recipient: Address }>`
    select distinct fee ->> 'recipient' as recipient
    from ops.partner_collection named
    join ops.partner_collection told using (chain_id, contract)
    cross join lateral jsonb_array_elements(told.fees) fee
    where named.marketplace = ${marketplace} and named.chain_id = ${chainId} and named.slug = ${slug}
      and told.marketplace = any (${[...partnerNames]}::text[]) and told.fees is not null`.execute(
    db,
  );
  return rows.map(({ recipient }) => recipient);
}

/** Whether a partner ever showed this order as a listing that is kept and has not ended. */
export async function isKnownListing(
  db: Database,
  { marketplace, chainId }: Named,
  orderHash: Hex,
): Promise<boolean> {
  const { rows } = await sql`
    select from ops.partner_listing
    where marketplace = ${marketplace} and chain_id = ${chainId}
      and order_hash = ${Buffer.from(orderHash.slice(2), "hex")}`.execute(db);
  return rows.length > 0;
}
