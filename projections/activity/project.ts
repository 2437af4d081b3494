import { sql } from "kysely";
import type { Projection } from "../engine/projection.ts";
import { versions } from "../log/versions.ts";
import { addCancels, cancelKinds, nameCancelled, removeCancels } from "./derive.ts";
import { tables } from "./tables.ts";

/** Cancels, for feeds of a collection or a wallet; transfers and sales are read where they stand. */
export const activityProjection: Projection = {
  name: "activity",
  version: versions.activity.version,
  handles: ["order_cancelled", "counter_incremented", "order_submitted", "partner_listing_seen"],
  sample: {
    key: ["block_id", "transaction_index"],
    where: sql`kind in ${cancelKinds}`,
    tables: ["cancel"],
  },
  tables,
  async apply(session, schema, window) {
    await removeCancels(session, schema, window);
    await addCancels(session, schema, window);
    await nameCancelled(session, schema, window);
  },
  deriveAll: [{ name: "cancels", derive: addCancels }],
};
