import { sql } from "kysely";
import type { Session } from "../database.ts";
import type { FactWindow, Projection } from "../engine/projection.ts";
import { withKinds } from "../engine/window.ts";
import { kindList } from "../log/fact-kind-sql.ts";
import { openChangedTokens } from "./changed-tokens.ts";
import { judgeAll, judgedListing, judgeTouched, openJudged } from "./recompute-set.ts";
import { insertStates, storeStates } from "./store.ts";
import { listingTables } from "./table.ts";

/** Listings of all marketplaces: for each the state that the log tells of it. */
export const listingsProjection: Projection = {
  name: "listings",
  version: 3,
  reads: ["ownership"],
  sample: {
    key: ["contract_id", "token_id"],
    where: sql`kind in ${kindList("partner_listing_seen", "order_submitted")} and payload -> 'terms' ->> 'side' = 'ask'`,
    tables: ["listing"],
  },
  tables: listingTables,
  async apply(session, schema, window) {
    window.changedKeys.set(schema, await openChangedTokens(session, schema));
    await openJudged(session);
    if ((await judgeTouched(session, schema, await withKinds(session, window))) === 0) return;
    await storeStates(session, schema, { ...window, orders: judgedListing });
  },
  deriveAll: [{ name: "listings", derive: deriveListings }],
};

async function deriveListings(session: Session, schema: string, window: FactWindow): Promise<void> {
  await openJudged(session);
  await judgeAll(session, window);
  await insertStates(session, schema, {
    ...window,
    orders: judgedListing,
    history: window.changes,
  });
}
