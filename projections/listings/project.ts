import type { Session } from "../database.ts";
import type { Projection, Window } from "../engine/projection.ts";
import { readKinds } from "../engine/window.ts";
import { judgeAll, judgedListing, judgeTouched, openJudged } from "./judged.ts";
import { beginMoves } from "./moved.ts";
import { insertStates, storeStates } from "./store.ts";
import { listingTables } from "./table.ts";

/** Listings of all marketplaces: for each the state that the log tells of it. */
export const listingsProjection: Projection = {
  name: "listings",
  version: 3,
  reads: ["ownership"],
  sample: {
    key: ["contract_id", "token_id"],
    where: "kind in (63, 70) and payload -> 'terms' ->> 'side' = 'ask'",
    tables: ["listing"],
  },
  tables: listingTables,
  async apply(session, schema, window, known) {
    const { upTo } = window;
    await beginMoves(session, schema, window);
    await openJudged(session);
    const kinds = known ?? (await readKinds(session));
    if ((await judgeTouched(session, schema, upTo, kinds)) === 0) return;
    await storeStates(session, schema, window, { orders: judgedListing, from: "log", upTo });
  },
  deriveAll: [{ name: "listings", derive: deriveListings }],
};

async function deriveListings(session: Session, schema: string, { upTo }: Window): Promise<void> {
  await openJudged(session);
  await judgeAll(session);
  await insertStates(session, schema, { orders: judgedListing, from: "change", upTo });
}
