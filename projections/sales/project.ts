import { sql } from "kysely";
import type { Address } from "viem";
import type { Session } from "../log/database.ts";
import type { FactWindow, Projection } from "../engine/projection.ts";
import { saleFactKinds, saleKinds } from "../exchanges/exchanges.ts";
import { versions } from "../log/versions.ts";
import { salesSteps } from "./derive-all.ts";
import { haveDerived, readChangedTransactions } from "./read-transactions.ts";
import { transactionRows } from "./row.ts";
import { addSales, deleteSales } from "./store.ts";
import { tables } from "./table.ts";
import { addUnresolvedEvents, deleteUnresolvedEvents } from "./unresolved-events.ts";
import { deleteWashTrades, type FlaggedToken, updateWashTrades } from "./wash-trades.ts";

/** Sales of NFTs, translated from the exchanges' events one transaction at a time. */
export function salesProjection({ feeRecipient }: { feeRecipient: Address }): Projection {
  return {
    name: "sales",
    version: versions.sales.version,
    handles: saleFactKinds,
    parameters: feeRecipient,
    sample: {
      key: ["block_id", "transaction_index"],
      where: sql`log_index is not null and kind in ${saleKinds}`,
      tables: ["sale", "unresolved_event"],
    },
    tables,
    apply: async (session, schema, window) => {
      const [changed, areDerived] = await Promise.all([
        readChangedTransactions(session, window),
        haveDerived(session, schema, window),
      ]);
      const { sales, unresolved } = transactionRows(changed, feeRecipient);
      const flagged = areDerived ? await deleteDerived(session, schema, window) : [];
      const added = await addSales(session, schema, sales);
      await updateWashTrades(session, schema, window, { added, flagged });
      await addUnresolvedEvents(session, schema, unresolved);
    },
    deriveAll: salesSteps(feeRecipient),
  };
}

/** Deletes what is derived from the window's transactions. Returns the tokens of flags among it. */
async function deleteDerived(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<FlaggedToken[]> {
  await deleteSales(session, schema, window);
  await deleteUnresolvedEvents(session, schema, window);
  return await deleteWashTrades(session, schema, window);
}
