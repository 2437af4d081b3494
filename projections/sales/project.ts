import type { Address } from "viem";
import type { Projection } from "../engine/projection.ts";
import { salesSteps } from "./derive-all.ts";
import { readOrderTransactions } from "./read-facts.ts";
import { saleRows } from "./row.ts";
import { addSales, deleteSales } from "./store.ts";
import { tables } from "./table.ts";

/** Sales of NFTs, translated from the exchange's events one transaction at a time. */
export function salesProjection({ feeRecipient }: { feeRecipient: Address }): Projection {
  return {
    name: "sales",
    version: 4,
    folds: ["order_fulfilled", "orders_matched"],
    parameters: feeRecipient,
    sample: {
      key: ["block_id", "transaction_index"],
      where: "log_index is not null and kind in (30, 34)",
      tables: ["sale"],
    },
    tables,
    apply: async (session, schema, { upTo }) => {
      const transactions = await readOrderTransactions(session, upTo);
      await deleteSales(session, schema);
      await addSales(session, schema, saleRows(transactions, feeRecipient));
    },
    deriveAll: salesSteps(feeRecipient),
  };
}
