import type { Address } from "viem";
import type { Projection } from "../engine/projection.ts";
import { deriveAllSales, placeOrderFacts } from "./derive-all.ts";
import { readOrderTransactions } from "./read-facts.ts";
import { saleRows } from "./row.ts";
import { addSales, countSales, deleteSales } from "./store.ts";
import { tables } from "./table.ts";

/** Sales of NFTs, translated from the exchange's events one transaction at a time. */
export function salesProjection({ feeRecipient }: { feeRecipient: Address }): Projection {
  return {
    name: "sales",
    version: 2,
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
    deriveAll: async (session, schema, _window, onProgress) => {
      await placeOrderFacts(session);
      await deriveAllSales(session, schema, feeRecipient, onProgress);
      await countSales(session, schema);
    },
  };
}
