import { sql } from "kysely";
import type { Projection } from "../engine/projection.ts";
import { copySales, foldBegun, foldCancels, foldTransfers, removeCeased } from "./derive.ts";
import { tables } from "./tables.ts";

/**
 * What happened to tokens and orders, one row per event, for feeds of a collection or a wallet.
 * Its sales are copies: when `sales` derives other rows, this is rebuilt too.
 */
export function activityProjection(sales: Projection): Projection {
  return {
    name: "activity",
    version: 1,
    handles: [
      "erc721_transfer",
      "erc721_consecutive_transfer",
      "erc1155_transfer",
      "order_fulfilled",
      "orders_matched",
      "order_cancelled",
      "counter_incremented",
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
      await removeCeased(session, schema, window);
      await foldBegun(session, schema, window);
    },
    deriveAll: [
      { name: "sales", derive: copySales },
      { name: "transfers", derive: foldTransfers },
      { name: "cancels", derive: foldCancels },
    ],
  };
}
