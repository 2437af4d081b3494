import type { Projection } from "../engine/projection.ts";
import { deriveSales, foldCancels, foldTransfers, removeCeased } from "./derive.ts";
import { tables } from "./tables.ts";

/** What happened to tokens and orders, one row per event, for feeds of a collection or a wallet. */
export const activityProjection: Projection = {
  name: "activity",
  version: 1,
  tables,
  async apply(session, schema) {
    await removeCeased(session, schema);
    await foldTransfers(session, schema);
    await foldCancels(session, schema);
    await deriveSales(session, schema);
  },
};
