import { sql } from "kysely";
import type { Address } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { PartnerName } from "../domain/partners.ts";
import {
  type CreatorFee,
  type FeeLimits,
  type FeeReview,
  type HeldReason,
  reviewFees,
} from "../domain/royalty.ts";
import { appendObservationsIn, contentIdentity, type Observation } from "../log/append.ts";
import type { Database, Session } from "../log/database.ts";
import { isCollection, type PartnerCollectionState } from "./sync-pass.ts";

type CreatorFeeReading = {
  chainId: ChainId;
  contract: Address;
  marketplace: string;
  fees: readonly CreatorFee[];
  /** How often the fee changed before: a fee that returns is another fact. */
  change: number;
  /** Whether it takes effect. Absent in facts of earlier versions. */
  review?: FeeReview;
  readAt: Date;
};

/** The creator fees of a collection according to a marketplace; an empty list: none. */
export function creatorFeeRead(reading: CreatorFeeReading): Observation {
  const { chainId, contract, marketplace, change, review, readAt } = reading;
  const fees = reading.fees.map(({ recipient, bps, isRequired }) => ({
    recipient,
    bps,
    isRequired,
  }));
  const content = ["creator_fee_read", chainId, contract, marketplace, fees, change, review];
  return {
    kind: "creator_fee_read",
    chainId,
    contract,
    identity: contentIdentity(content),
    recordedAt: readAt,
    payload: { marketplace, fees, ...(review && { review }) },
  };
}

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

/** A partner's word about creator fees that waits for an operator. */
export type HeldFees = {
  marketplace: PartnerName;
  chainId: ChainId;
  contract: Address;
  pendingReason: HeldReason;
  fees: CreatorFee[];
  /** Null: none were recorded before. */
  inForce: CreatorFee[] | null;
};

const columns = sql`marketplace, chain_id as "chainId", contract, pending_reason as "pendingReason", fees,
  fees_in_force as "inForce"`;

/** All of them, by marketplace, chain and contract. */
export async function readHeldFees(db: Database): Promise<HeldFees[]> {
  const { rows } = await sql<HeldFees>`
    select ${columns} from ops.partner_collection where pending_reason is not null
    order by marketplace, chain_id, contract`.execute(db);
  return rows;
}

type HeldKey = Pick<HeldFees, "marketplace" | "chainId" | "contract">;

/**
 * Appends an operator's decision about held fees: accepted, they are in force; refused, the partner's last word before
 * them stays, until the partner says something else. Null: nothing waits there.
 */
export async function decideHeldFees(
  db: Database,
  key: HeldKey,
  state: "accepted" | "refused",
  now: Date,
): Promise<HeldFees | null> {
  return await db.transaction().execute(async (session) => {
    const { rows } = await sql<HeldFees & { change: number }>`
      select ${columns}, fee_changes as change from ops.partner_collection
      where ${isCollection(key)} and pending_reason is not null for update`.execute(session);
    const [held] = rows;
    if (held === undefined) return null;
    const { change, fees, ...of } = held;
    const decision = { ...of, fees, change, review: { state }, readAt: now };
    await appendObservationsIn(session, [creatorFeeRead(decision)]);
    await sql`
      update ops.partner_collection
      set pending_reason = null, fee_changes = fee_changes + 1,
          fees_in_force = case when ${state} = 'accepted' then fees else fees_in_force end
      where ${isCollection(key)}`.execute(session);
    return held;
  });
}
