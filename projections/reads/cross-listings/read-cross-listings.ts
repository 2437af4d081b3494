import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "#projections/log/database.ts";
import type { OrderComponents } from "#projections/domain/seaport/order-components.ts";
import type { Serialized } from "#projections/log/append.ts";
import { kindLiteral } from "#projections/log/fact-kinds.ts";
import { byteaArray } from "#projections/log/sql-values.ts";
import { componentsOf } from "#projections/orders/read-signed-orders.ts";

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
