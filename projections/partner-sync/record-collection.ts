import { sql } from "kysely";
import type { Database } from "../database.ts";
import { type CreatorFee, creatorFeeRead } from "../facts/creator-fee.ts";
import { appendObservationsIn } from "../log/append.ts";
import { isCollection } from "./collection-pass.ts";
import type { PartnerCollectionState } from "./due-collection.ts";

type CollectionReading = { slug: string | null; fees: readonly CreatorFee[] | null };

/** Stores a partner's data about a collection; changed creator fees are appended. Returns whether they changed. */
export async function recordCollection(
  db: Database,
  state: PartnerCollectionState,
  { slug, fees }: CollectionReading,
  { now, dueAt }: { now: Date; dueAt: Date },
): Promise<boolean> {
  const { marketplace, chainId, contract } = state;
  return await db.transaction().execute(async (session) => {
    const feesJson = fees && JSON.stringify(fees);
    const { rows } = await sql<{ differs: boolean; change: number }>`
      select fees is distinct from ${feesJson}::jsonb as differs, fee_changes as change
      from ops.partner_collection where ${isCollection(state)} for update`.execute(session);
    const [stored] = rows;
    const isChanged = fees !== null && stored?.differs === true;
    if (isChanged) {
      const { change } = stored;
      const reading = { chainId, contract, marketplace, fees, change, readAt: now };
      await appendObservationsIn(session, [creatorFeeRead(reading)]);
    }
    await sql`
      update ops.partner_collection
      set slug = ${slug}, described_at = ${now}, due_at = ${dueAt}, fees = coalesce(${feesJson}::jsonb, fees),
          fee_changes = fee_changes + ${isChanged ? 1 : 0}
      where ${isCollection(state)}`.execute(session);
    return isChanged;
  });
}
