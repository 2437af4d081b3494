import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "../../database.ts";
import type { OrderComponents } from "../../domain/seaport/order-components.ts";
import { factKind } from "../../log/fact-kind.ts";
import { bytes } from "../orders/read-shown.ts";
import { componentsOf, type Plain } from "../orders/read-signed-order.ts";

/** A twin as its maker signed it, and what its partner said. */
export type StoredTwin = {
  /** Of the listing in the market's own book. */
  orderHash: Hex;
  twinHash: Hex;
  components: OrderComponents;
  signature: Hex;
  /** `queued`: the partner has not answered. */
  status: "queued" | "posted" | "rejected";
  code: string | null;
  message: string | null;
};

type Row = Omit<StoredTwin, "components"> & { components: Plain<OrderComponents> };

/** The twins of listings, those submitted last first; of the log, so that what was just appended is seen. */
export async function readTwins(
  db: Database,
  chainId: number,
  orderHashes: readonly Hex[],
): Promise<StoredTwin[]> {
  if (orderHashes.length === 0) return [];
  const { rows } = await sql<Row>`
    select f.order_hash as "orderHash", f.payload ->> 'twinHash' as "twinHash",
           f.payload -> 'components' as components, f.payload ->> 'signature' as signature,
           coalesce(a.payload ->> 'status', 'queued') as status, a.payload ->> 'code' as code,
           a.payload ->> 'message' as message
    from log.fact f join log.contract k using (contract_id)
    left join log.fact a
      on a.order_hash = f.order_hash and a.kind = ${sql.lit(factKind.twin_answered)}
     and a.contract_id = f.contract_id and a.payload ->> 'twinHash' = f.payload ->> 'twinHash'
     and a.payload ->> 'marketplace' = f.payload ->> 'marketplace'
    where f.order_hash = any (${bytes(orderHashes)}) and f.kind = ${sql.lit(factKind.twin_submitted)}
      and k.chain_id = ${chainId}
    order by f.position desc`.execute(db);
  return rows.map((row) => ({ ...row, components: componentsOf(row.components) }));
}
