import { sql } from "kysely";
import type { Hex } from "viem";
import type { OrderRow } from "./order-columns.ts";
import { type OrderCursor, orderCursor } from "./order-page.ts";
import type { OrderFilter, OrderQuery } from "./order-query.ts";

export type ExposedMaker = { readonly chainId: number; readonly maker: Hex };

/** Exposed orders are listed newest first. */
export const exposedSort = "created_at";

export const exposedCursor = (row: OrderRow): OrderCursor => orderCursor(exposedSort, row);

/** Inactive orders of a maker for one of these reasons. */
export function exposedOrders(
  schema: OrderQuery["schema"],
  { chainId, maker }: ExposedMaker,
  reasons: readonly string[],
): OrderQuery {
  const filter: OrderFilter = {
    chainId,
    maker,
    status: "inactive",
    contractIds: null,
    tokenId: null,
  };
  const condition = sql`o.reason in (${sql.join(reasons.map((one) => sql.lit(one)))})`;
  return { schema, filter, condition, countCondition: null, marketplaces: null };
}
