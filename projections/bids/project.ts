import type { Session } from "../log/database.ts";
import { withKinds } from "../engine/fact-window.ts";
import type { FactWindow, Projection } from "../engine/projection.ts";
import { versions } from "../log/versions.ts";
import { bidsToRecompute, selectAffectedBids, selectAllBids } from "./recompute-set.ts";
import { storeStates } from "./store.ts";
import { bidTables } from "./table.ts";

const { orders } = bidsToRecompute;

/** Our bids and their state; ended ones without a fill leave after 30 days. */
export const bidsProjection: Projection = {
  name: "bids",
  version: versions.bids.version,
  tables: bidTables,
  async apply(session, schema, window) {
    await bidsToRecompute.open(session);
    const rows = await selectAffectedBids(session, schema, await withKinds(session, window));
    if (rows > 0) await storeStates(session, schema, { ...window, orders });
  },
  deriveAll: [{ name: "bids", derive: deriveBids }],
};

async function deriveBids(session: Session, schema: string, window: FactWindow): Promise<void> {
  await bidsToRecompute.open(session);
  await selectAllBids(session, window);
  await storeStates(session, schema, { ...window, orders, history: window.changes });
}
