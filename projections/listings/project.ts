import type { Projection } from "../engine/projection.ts";
import { judgeAll, judgedListing, judgeTouched, openJudged } from "./judged.ts";
import { beginMoves } from "./moved.ts";
import { insertStates, storeStates } from "./store.ts";
import { listingTables } from "./table.ts";

/** Listings of all marketplaces: for each the state that the log tells of it. */
export const listingsProjection: Projection = {
  name: "listings",
  version: 2,
  reads: ["ownership"],
  sample: {
    key: ["contract_id", "token_id"],
    where: "kind in (63, 70) and payload -> 'terms' ->> 'side' = 'ask'",
    tables: ["listing"],
  },
  tables: listingTables,
  async apply(session, schema, window) {
    const { upTo } = window;
    await beginMoves(session, schema, window);
    await openJudged(session);
    if ((await judgeTouched(session, schema, upTo)) === 0) return;
    await storeStates(session, schema, window, { orders: judgedListing, from: "log", upTo });
  },
  async deriveAll(session, schema, { upTo }, onProgress) {
    onProgress("reading the orders");
    await openJudged(session);
    await judgeAll(session);
    onProgress("judging the listings");
    await insertStates(session, schema, { orders: judgedListing, from: "change", upTo });
  },
};
