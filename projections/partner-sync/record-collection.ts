import { sql } from "kysely";
import type { Database, Session } from "../log/database.ts";
import { type CreatorFee, type FeeLimits, type HeldReason, reviewFees } from "../domain/royalty.ts";
import { creatorFeeRead } from "../facts/creator-fee.ts";
import { appendObservationsIn } from "../log/append.ts";
import { isCollection } from "./collection-pass.ts";
import type { PartnerCollectionState } from "./due-collection.ts";

type CollectionReading = {
  slug: string | null;
  fees: readonly CreatorFee[] | null;
  /** Whether the partner's collection contains the contract. */
  isMember: boolean;
};

type Recording = { now: Date; dueAt: Date; limits: FeeLimits };

/**
 * Stores a partner's data about a collection. Changed creator fees are appended; those beyond the limits wait for an
 * operator. Returns why they newly wait, else null.
 */
export async function recordCollection(
  db: Database,
  state: PartnerCollectionState,
  { slug, fees, isMember }: CollectionReading,
  { now, dueAt, limits }: Recording,
): Promise<HeldReason | null> {
  return await db.transaction().execute(async (session) => {
    const pendingReason =
      fees === null ? null : await recordFees(session, state, { fees, isMember, now, limits });
    await sql`
      update ops.partner_collection set slug = ${slug}, described_at = ${now}, due_at = ${dueAt}
      where ${isCollection(state)}`.execute(session);
    return pendingReason;
  });
}

type FeeReading = { fees: readonly CreatorFee[]; isMember: boolean; now: Date; limits: FeeLimits };

async function recordFees(
  session: Session,
  state: PartnerCollectionState,
  { fees, isMember, now, limits }: FeeReading,
): Promise<HeldReason | null> {
  const { marketplace, chainId, contract } = state;
  const feesJson = JSON.stringify(fees);
  const { rows } = await sql<{ differs: boolean; change: number; inForce: CreatorFee[] | null }>`
    select fees is distinct from ${feesJson}::jsonb as differs, fee_changes as change, fees_in_force as "inForce"
    from ops.partner_collection where ${isCollection(state)} for update`.execute(session);
  const [stored] = rows;
  if (stored?.differs !== true) return null;
  const { change, inForce } = stored;
  const review = reviewFees({ fees, inForce, isMember }, limits);
  const reading = { chainId, contract, marketplace, fees, change, review, readAt: now };
  await appendObservationsIn(session, [creatorFeeRead(reading)]);
  const pendingReason = review.state === "held" ? review.reason : null;
  await sql`
    update ops.partner_collection
    set fees = ${feesJson}::jsonb, fee_changes = fee_changes + 1, pending_reason = ${pendingReason},
        fees_in_force = case when ${pendingReason}::text is null then ${feesJson}::jsonb else fees_in_force end
    where ${isCollection(state)}`.execute(session);
  return pendingReason;
}
