import { sql } from "kysely";
import type { Hex } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { Database } from "#projections/log/database.ts";
import type { PartnerName } from "#projections/domain/marketplaces.ts";
import type { OrderComponents } from "#projections/domain/seaport/order-components.ts";
import type { CrossListingKey } from "#projections/facts/cross-listing.ts";
import type { Serialized } from "#projections/log/append.ts";
import { kindLiteral } from "#projections/log/fact-kinds.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { unixSeconds } from "#projections/orders/read-orders.ts";
import { componentsOf } from "#projections/orders/read-signed-orders.ts";

export type QueuedCrossListing = CrossListingKey & {
  /** Of its `cross_listing_submitted` fact. */
  position: bigint;
  components: OrderComponents;
  signature: Hex;
};

type Queue = { marketplace: PartnerName; chainIds: readonly ChainId[] };

/**
 * Cross-listings to post, in log order, after a position: the latest one of each active listing, while neither order
 * has ended. Later submissions and answers are read from the log, as the projection may lag behind.
 */
export async function readQueuedCrossListings(
  db: Database,
  { marketplace, chainIds }: Queue,
  { after, limit, now }: { after: bigint; limit: number; now: Date },
): Promise<QueuedCrossListing[]> {
  type Row = Omit<QueuedCrossListing, "components"> & { components: Serialized<OrderComponents> };
  const { rows } = await sql<Row>`
    select t.position, t.marketplace, t.chain_id as "chainId", k.address as contract,
           t.order_hash as "orderHash", t.partner_order_hash as "partnerOrderHash", f.payload -> 'components' as components,
           f.payload ->> 'signature' as signature
    from cross_listings.cross_listing t
    join log.fact f on f.position = t.position
    join log.contract k on k.contract_id = f.contract_id
    join listings.listing o on o.chain_id = t.chain_id and o.order_hash = t.order_hash
    where t.is_queued and t.marketplace = ${marketplace} and t.chain_id = any (${[...chainIds]}::int[])
      and t.position > ${after} and o.status = 'active'
      and least(t.end_time, o.end_time) > ${unixSeconds(now)}::bigint
      and not exists (
        select from log.fact later
        where later.order_hash = t.order_hash and later.kind = ${kindLiteral("cross_listing_submitted")}
          and later.contract_id = f.contract_id and later.payload ->> 'marketplace' = t.marketplace
          and later.position > t.position
      )
      and not exists (
        select from log.fact a
        where a.order_hash = t.order_hash and a.kind = ${kindLiteral("cross_listing_answered")}
          and a.contract_id = f.contract_id and a.payload ->> 'marketplace' = t.marketplace
          and a.payload ->> 'twinHash' = '0x' || encode(t.partner_order_hash, 'hex')
      )
    order by t.position
    limit ${limit}`.execute(db);
  return rows.map((row) => ({ ...row, components: componentsOf(row.components) }));
}

/** Whether both projections have been built. */
export async function hasCrossListingTables(db: Database): Promise<boolean> {
  const { rows } = await sql`
    select from engine.checkpoint where projection in (${schemaOf("cross_listings")}, ${schemaOf("listings")})
    having count(*) = 2`.execute(db);
  return rows.length > 0;
}
