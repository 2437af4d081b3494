import { sql } from "kysely";
import type { Address } from "viem";
import type { Projection } from "../engine/projection.ts";
import { saleFactKinds, saleKinds } from "../exchanges/sale-fact-kinds.ts";
import { salesSteps } from "./derive-all.ts";
import { readChangedTransactions } from "./read-transactions.ts";
import { saleRows } from "./row.ts";
import { addSales, deleteSales } from "./store.ts";
import { tables } from "./table.ts";

/** Sales of NFTs, translated from the exchanges' events one transaction at a time. */
export function salesProjection({ feeRecipient }: { feeRecipient: Address }): Projection {
  return {
    name: "sales",
    version: 8,
    handles: saleFactKinds,
    parameters: feeRecipient,
    sample: {
      key: ["block_id", "transaction_index"],
      where: sql`log_index is not null and kind in ${saleKinds}`,
      tables: ["sale"],
    },
    tables,
    apply: async (session, schema, window) => {
      const transactions = await readChangedTransactions(session, window);
      await deleteSales(session, schema, window);
      await addSales(session, schema, saleRows(transactions, feeRecipient));
    },
    deriveAll: salesSteps(feeRecipient),
  };
}
