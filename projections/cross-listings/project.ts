import { type RawBuilder, sql } from "kysely";
import type { Session } from "../log/database.ts";
import { isObservation } from "../engine/fact-window.ts";
import type { FactWindow, Projection } from "../engine/projection.ts";
import { versions } from "../log/versions.ts";
import { crossListingTables } from "./table.ts";

/** Cross-listings, and which of them have no answer from their partner. */
export const crossListingsProjection: Projection = {
  name: "cross_listings",
  version: versions.cross_listings.version,
  handles: ["cross_listing_submitted", "cross_listing_answered"],
  tables: crossListingTables,
  async apply(session, schema, window) {
    await applySubmissions(session, schema, window);
    await applyAnswers(session, schema, window);
    await updateQueue(session, schema, window);
  },
  deriveAll: [
    { name: "submissions", derive: applySubmissions },
    { name: "answers", derive: applyAnswers },
    { name: "queue", derive: updateQueue },
  ],
};

/** The hash of the order signed for the partner. The payload's key is older than the word cross-listing. */
const partnerOrderHash = sql`decode(substr(c.payload ->> 'twinHash', 3), 'hex')`;

async function applySubmissions(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<void> {
  const crossListing = sql.table(`${schema}.cross_listing`);
  const isSubmission = isObservation("cross_listing_submitted");
  await sql`
    delete from ${crossListing} t using ${window.changes} c
    where ${isSubmission} and c.weight < 0 and t.position = c.position`.execute(session);
  await sql`
    insert into ${crossListing}
    select c.position, k.chain_id, c.order_hash, ${partnerOrderHash}, c.payload ->> 'marketplace',
           (c.payload #>> '{components,endTime}')::numeric, true
    from ${window.changes} c join log.contract k using (contract_id)
    where ${isSubmission} and c.weight > 0`.execute(session);
}

async function applyAnswers(session: Session, schema: string, window: FactWindow): Promise<void> {
  const answer = sql.table(`${schema}.answer`);
  const isAnswer = isObservation("cross_listing_answered");
  await sql`
    delete from ${answer} a using ${window.changes} c
    where ${isAnswer} and c.weight < 0 and a.position = c.position`.execute(session);
  await sql`
    insert into ${answer}
    select c.position, k.chain_id, c.order_hash, ${partnerOrderHash}, c.payload ->> 'marketplace'
    from ${window.changes} c join log.contract k using (contract_id)
    where ${isAnswer} and c.weight > 0`.execute(session);
}

/** Queues what has no answer, among the cross-listings that the window's facts name. */
async function updateQueue(session: Session, schema: string, window: FactWindow): Promise<void> {
  const crossListing = sql.table(`${schema}.cross_listing`);
  await sql`
    update ${crossListing} t set is_queued = current.is_queued
    from (
      select w.position, not exists (
               select from ${sql.table(`${schema}.answer`)} a
               where a.chain_id = w.chain_id and a.order_hash = w.order_hash
                 and a.partner_order_hash = w.partner_order_hash and a.marketplace = w.marketplace
             ) as is_queued
      from (${affectedListings(window)}) affected
      join ${crossListing} w using (chain_id, order_hash)
    ) current
    where t.position = current.position and t.is_queued <> current.is_queued`.execute(session);
}

function affectedListings({ changes }: FactWindow): RawBuilder<unknown> {
  return sql`
    select distinct k.chain_id, c.order_hash
    from ${changes} c join log.contract k using (contract_id)
    where ${isObservation("cross_listing_submitted")} or ${isObservation("cross_listing_answered")}`;
}
