import { sql } from "kysely";
import type { Projection } from "../engine/projection.ts";
import { saleFactKinds } from "../exchanges/sale-fact-kinds.ts";
import { versions } from "../versions.ts";
import { addAllCancels, addAllSales, addNewEvents, nameCancelled, removeEvents } from "./derive.ts";
import { tables } from "./tables.ts";

/**
 * Sales and cancels, one row per event, for feeds of a collection or a wallet; transfers are read from the log.
 * Its sales are copies: when `sales` gets a new version, this is rebuilt too.
 */
export function activityProjection(sales: Projection): Projection {
  return {
    name: "activity",
    version: versions.activity.version,
    handles: [
      ...saleFactKinds,
      "order_cancelled",
      "counter_incremented",
      "order_submitted",
      "partner_listing_seen",
    ],
    parameters: `sales ${sales.version} ${sales.parameters ?? ""}`,
    reads: ["sales"],
    sample: {
      key: ["block_id", "transaction_index"],
      where: sql`log_index is not null`,
      tables: ["event"],
    },
    tables,
    async apply(session, schema, window) {
      await removeEvents(session, schema, window);
      await addNewEvents(session, schema, window);
      await nameCancelled(session, schema, window);
    },
    deriveAll: [
      { name: "sales", derive: addAllSales },
      { name: "cancels", derive: addAllCancels },
    ],
  };
}
