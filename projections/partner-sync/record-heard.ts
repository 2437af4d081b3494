import { sql } from "kysely";
import type { Address, Hex } from "viem";
import type { ChainId } from "../../abis/deployments.ts";
import type { Database, Session } from "../database.ts";
import type { PartnerListing, PartnerName } from "../facts/partner-listing.ts";
import { takeIn } from "./append-page.ts";
import { isCollection } from "./move-collection.ts";
import { withdraw } from "./withdraw-unseen.ts";

/** Takes in one listing as a page does that shows it, if its contract is one whose listings are taken in. */
export async function recordSeen(db: Database, listing: PartnerListing, now: Date): Promise<void> {
  await db.transaction().execute(async (session) => {
    const state = await lockCollection(session, listing);
    if (state === null) return;
    await takeIn(session, { ...listing, ...state }, { listings: [listing], skipped: [] }, now);
  });
}

type Named = { marketplace: PartnerName; chainId: ChainId; orderHash: Hex };

/** Withdraws one listing that its partner shows no longer. */
export async function recordGone(db: Database, named: Named, now: Date): Promise<void> {
  await db.transaction().execute(async (session) => {
    const told = await readShown(session, named);
    if (told === null) return;
    // The walk over its collection may have changed it until its row is held.
    await lockCollection(session, { ...named, contract: told.contract });
    const shown = await readShown(session, named);
    if (shown !== null) await withdraw(session, named, [{ ...named, ...shown }], now);
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

async function readShown(
  session: Session,
  { marketplace, chainId, orderHash }: Named,
): Promise<{ contract: Address; generation: number } | null> {
  const { rows } = await sql<{ contract: Address; generation: number }>`
    select contract, generation from ops.partner_listing
    where marketplace = ${marketplace} and chain_id = ${chainId} and is_shown
      and order_hash = ${Buffer.from(orderHash.slice(2), "hex")}`.execute(session);
  return rows[0] ?? null;
}
