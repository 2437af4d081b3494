import type { Projection } from "../engine/projection.ts";
import { deriveSales, foldCancels, foldTransfers, removeCeased } from "./derive.ts";
import { tables } from "./tables.ts";

/**
 * What happened to tokens and orders, one row per event, for feeds of a collection or a wallet.
 * Its sales are copies: when `sales` derives other rows, this is rebuilt too.
 */
export function activityProjection(sales: Projection): Projection {
  return {
    name: "activity",
    version: 1,
    parameters: `sales ${sales.version} ${sales.parameters ?? ""}`,
    tables,
    async apply(session, schema) {
      await removeCeased(session, schema);
      await foldTransfers(session, schema);
      await foldCancels(session, schema);
      await deriveSales(session, schema);
    },
  };
}
