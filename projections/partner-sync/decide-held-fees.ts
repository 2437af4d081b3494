import { sql } from "kysely";
import type { Address } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { Database } from "../log/database.ts";
import type { CreatorFee, HeldReason } from "../domain/royalty.ts";
import type { PartnerName } from "../domain/marketplaces.ts";
import { creatorFeeRead } from "../facts/creator-fee.ts";
import { appendObservationsIn } from "../log/append.ts";
import { isCollection } from "./collection-pass.ts";

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
