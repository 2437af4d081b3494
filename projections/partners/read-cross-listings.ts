import { sql } from "kysely";
import type { Hex } from "viem";
import type { ChainId } from "#chains/index.ts";
import { unixSeconds } from "#projections/orders/read-orders.ts";
import type { PartnerName } from "../domain/partners.ts";
import type { OrderComponents } from "../domain/seaport/order-components.ts";
import type { Serialized } from "../log/append.ts";
import type { Database } from "../log/database.ts";
import { kindLiteral } from "../log/fact-kinds.ts";
import { byteaArray } from "../log/sql-values.ts";
import { schemaOf } from "../log/versions.ts";
import { componentsOf } from "../orders/read-signed-orders.ts";
import type { CrossListingKey } from "./cross-listings.ts";

/** A cross-listing as its maker signed it, and the partner's answer. */
export type StoredCrossListing = {
  /** Of our own listing. */
  orderHash: Hex;
  partnerOrderHash: Hex;
  components: OrderComponents;
  signature: Hex;
  /** `queued`: not answered by the partner. */
  status: "queued" | "posted" | "rejected";
  code: string | null;
  message: string | null;
};

type Row = Omit<StoredCrossListing, "components"> & { components: Serialized<OrderComponents> };

/** Cross-listings of listings, latest first; read from the log, so just appended ones are included. */
export async function readCrossListings(
  db: Database,
  chainId: number,
  orderHashes: readonly Hex[],
): Promise<StoredCrossListing[]> {
  if (orderHashes.length === 0) return [];
  const { rows } = await sql<Row>`
    select f.order_hash as "orderHash", f.payload ->> 'twinHash' as "partnerOrderHash",
           f.payload -> 'components' as components, f.payload ->> 'signature' as signature,
           coalesce(a.payload ->> 'status', 'queued') as status, a.payload ->> 'code' as code,
           a.payload ->> 'message' as message
    from log.fact f join log.contract k using (contract_id)
    left join log.fact a
      on a.order_hash = f.order_hash and a.kind = ${kindLiteral("cross_listing_answered")}
     and a.contract_id = f.contract_id and a.payload ->> 'twinHash' = f.payload ->> 'twinHash'
     and a.payload ->> 'marketplace' = f.payload ->> 'marketplace'
    where f.order_hash = any (${byteaArray(orderHashes)}) and f.kind = ${kindLiteral("cross_listing_submitted")}
      and k.chain_id = ${chainId}
    order by f.position desc`.execute(db);
  return rows.map((row) => ({ ...row, components: componentsOf(row.components) }));
}

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
