import { sql } from "kysely";
import type { Session } from "../log/database.ts";
import { withKinds } from "../engine/fact-window.ts";
import type { FactWindow, Projection } from "../engine/projection.ts";
import { kindList } from "../log/fact-kinds.ts";
import { sendAhead } from "../log/pipelined.ts";
import { versions } from "../log/versions.ts";
import { changedTokensOf, openChangedTokens } from "./changed-tokens.ts";
import { listingsToRecompute, selectAffectedListings, selectAllListings } from "./recompute-set.ts";
import { insertStates, storeStates } from "./store.ts";
import { listingTables } from "./table.ts";

const { orders } = listingsToRecompute;

/** Listings of all marketplaces and their state; ended ones without a fill leave after 30 days. */
export const listingsProjection: Projection = {
  name: "listings",
  version: versions.listings.version,
  reads: ["ownership"],
  sample: {
    key: ["contract_id", "token_id"],
    where: sql`kind in ${kindList("partner_listing_seen", "order_submitted")} and payload -> 'terms' ->> 'side' = 'ask'`,
    tables: ["listing"],
  },
  tables: listingTables,
  async apply(session, schema, window) {
    window.changedKeys.set(schema, changedTokensOf(schema));
    await sendAhead(session, async (ahead) => {
      await openChangedTokens(ahead);
      await listingsToRecompute.open(ahead);
    });
    const rows = await selectAffectedListings(session, schema, await withKinds(session, window));
    if (rows > 0) await storeStates(session, schema, { ...window, orders });
  },
  deriveAll: [{ name: "listings", derive: deriveListings }],
};

async function deriveListings(session: Session, schema: string, window: FactWindow): Promise<void> {
  await listingsToRecompute.open(session);
  await selectAllListings(session, window);
  await insertStates(session, schema, { ...window, orders, history: window.changes });
}
