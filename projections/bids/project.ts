import type { Session } from "../database.ts";
import type { FactWindow, Projection } from "../engine/projection.ts";
import { withKinds } from "../engine/window.ts";
import { judgeAll, judgedBids, judgeTouched, openJudged } from "./recompute-set.ts";
import { storeStates } from "./store.ts";
import { bidTables } from "./table.ts";

/** The bids of the book: for each the state that the log tells of it. */
export const bidsProjection: Projection = {
  name: "bids",
  version: 2,
  tables: bidTables,
  async apply(session, schema, window) {
    await openJudged(session);
    if ((await judgeTouched(session, schema, await withKinds(session, window))) === 0) return;
    await storeStates(session, schema, { ...window, orders: judgedBids });
  },
  deriveAll: [{ name: "bids", derive: deriveBids }],
};

async function deriveBids(session: Session, schema: string, window: FactWindow): Promise<void> {
  await openJudged(session);
  await judgeAll(session, window);
  await storeStates(session, schema, {
    ...window,
    orders: judgedBids,
    history: window.changes,
  });
}
