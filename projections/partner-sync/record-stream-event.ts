import { sql } from "kysely";
import type { Address, Hex } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { Database, Session } from "../log/database.ts";
import type { PartnerName } from "../domain/marketplaces.ts";
import type { PartnerListing } from "../facts/partner-listing.ts";
import { recordListings } from "./append-page.ts";
import { isCollection } from "./collection-pass.ts";
import { withdrawListings } from "./withdraw-unseen.ts";

/** Records a listing from a stream as if a page had shown it, if its contract is synchronised. */
export async function recordListed(
  db: Database,
  listing: PartnerListing,
  now: Date,
): Promise<void> {
  await db.transaction().execute(async (session) => {
    const state = await lockCollection(session, listing);
    if (state === null) return;
    await recordListings(
      session,
      { ...listing, ...state },
      { listings: [listing], skipped: [] },
      now,
    );
  });
}

type ListingKey = { marketplace: PartnerName; chainId: ChainId; orderHash: Hex };

/** Withdraws a listing that a stream reported as ended. */
export async function recordDelisted(db: Database, named: ListingKey, now: Date): Promise<void> {
  await db.transaction().execute(async (session) => {
    const before = await readVisible(session, named);
    if (before === null) return;
    // A pass may change the listing until the collection's row is locked: read again under the lock.
    await lockCollection(session, { ...named, contract: before.contract });
    const visible = await readVisible(session, named);
    if (visible !== null) await withdrawListings(session, named, [{ ...named, ...visible }], now);
  });
}

async function lockCollection(
  session: Session,
  collection: Pick<PartnerListing, "marketplace" | "chainId" | "contract">,
): Promise<{ passNumber: bigint } | null> {
  const { rows } = await sql<{ passNumber: bigint }>`
    select pass_number as "passNumber" from ops.partner_collection
    where ${isCollection(collection)} for update`.execute(session);
  return rows[0] ?? null;
}

async function readVisible(
  session: Session,
  { marketplace, chainId, orderHash }: ListingKey,
): Promise<{ contract: Address; generation: number } | null> {
  const { rows } = await sql<{ contract: Address; generation: number }>`
    select contract, generation from ops.partner_listing
    where marketplace = ${marketplace} and chain_id = ${chainId} and is_visible
      and order_hash = ${Buffer.from(orderHash.slice(2), "hex")}`.execute(session);
  return rows[0] ?? null;
}
