import type { Projection } from "../engine/projection.ts";
import { judgeAll, judgedBids, judgeTouched, openJudged } from "./judged.ts";
import { storeStates } from "./store.ts";
import { bidTables } from "./table.ts";

/** The bids of the book: for each the state that the log tells of it. */
export const bidsProjection: Projection = {
  name: "bids",
  version: 1,
  tables: bidTables,
  async apply(session, schema, { upTo }) {
    await openJudged(session);
    if ((await judgeTouched(session, schema, upTo)) === 0) return;
    await storeStates(session, schema, { orders: judgedBids, from: "log", upTo });
  },
  async deriveAll(session, schema, { upTo }, onProgress) {
    onProgress("reading the orders");
    await openJudged(session);
    await judgeAll(session);
    onProgress("judging the bids");
    await storeStates(session, schema, { orders: judgedBids, from: "change", upTo });
  },
};
