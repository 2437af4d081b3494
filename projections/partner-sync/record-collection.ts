import { sql } from "kysely";
import type { Database } from "../database.ts";
import { type CreatorFee, creatorFeeRead } from "../facts/creator-fee.ts";
import { appendObservationsIn } from "../log/append.ts";
import type { PartnerCollectionState } from "./due-collection.ts";
import { isCollection } from "./move-collection.ts";

type Told = { slug: string | null; fees: readonly CreatorFee[] | null };

/** Keeps what a partner tells of a collection; fees that differ from those told before are a fact. Returns whether they do. */
export async function recordCollection(
  db: Database,
  state: PartnerCollectionState,
  { slug, fees }: Told,
  { now, dueAt }: { now: Date; dueAt: Date },
): Promise<boolean> {
  const { marketplace, chainId, contract } = state;
  return await db.transaction().execute(async (session) => {
    const told = fees && JSON.stringify(fees);
    const { rows } = await sql<{ differs: boolean; change: number }>`
      select fees is distinct from ${told}::jsonb as differs, fee_changes as change
      from ops.partner_collection where ${isCollection(state)} for update`.execute(session);
    const [kept] = rows;
    const isNews = fees !== null && kept?.differs === true;
    if (isNews) {
      const { change } = kept;
      const reading = { chainId, contract, marketplace, fees, change, readAt: now };
      await appendObservationsIn(session, [creatorFeeRead(reading)]);
    }
    await sql`
      update ops.partner_collection
      set slug = ${slug}, described_at = ${now}, due_at = ${dueAt}, fees = coalesce(${told}::jsonb, fees),
          fee_changes = fee_changes + ${isNews ? 1 : 0}
      where ${isCollection(state)}`.execute(session);
    return isNews;
  });
}
