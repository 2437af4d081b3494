import { sql } from "kysely";
import type { Address, Hex } from "viem";
import type { Database, Session } from "../log/database.ts";
import { partnerListingWithdrawn } from "../facts/partner-listing.ts";
import { appendObservationsIn } from "../log/append.ts";
import { byteaArray } from "../log/sql-values.ts";
import { endPass, isCollection, lockPass } from "./collection-pass.ts";
import type { PartnerCollectionState } from "./due-collection.ts";

const batchSize = 500;

/**
 * Withdraws a batch of listings that a complete full pass did not see, and ends the pass after the last batch. Rows of
 * expired listings are deleted: the clock ends those. Returns how many were withdrawn.
 */
export async function withdrawUnseen(
  db: Database,
  state: PartnerCollectionState,
  { now, nextAt }: { now: Date; nextAt: Date },
): Promise<number> {
  return await db.transaction().execute(async (session) => {
    if (!(await lockPass(session, state))) return 0;
    const unseen = (await isPassComplete(session, state))
      ? await readUnseen(session, state, now)
      : [];
    if (unseen.length > 0) await withdrawListings(session, state, unseen, now);
    if (unseen.length < batchSize) {
      await endPass(session, state, { fullAt: now, dueAt: nextAt });
    }
    return unseen.length;
  });
}

async function isPassComplete(session: Session, state: PartnerCollectionState): Promise<boolean> {
  const { rows } = await sql`
    select from ops.partner_collection where ${isCollection(state)} and is_pass_complete`.execute(
    session,
  );
  return rows.length > 0;
}

type Unseen = { orderHash: Hex; contract: Address; generation: number };

async function readUnseen(
  session: Session,
  state: PartnerCollectionState,
  now: Date,
): Promise<Unseen[]> {
  const seconds = BigInt(Math.floor(now.getTime() / 1_000));
  await sql`
    delete from ops.partner_listing where ${isCollection(state)} and end_time <= ${seconds}`.execute(
    session,
  );
  const { rows } = await sql<Unseen>`
    select order_hash as "orderHash", contract, generation from ops.partner_listing
    where ${isCollection(state)} and is_visible and pass_number < ${state.passNumber}
    order by order_hash limit ${batchSize}`.execute(session);
  return rows;
}

/** Appends that listings were withdrawn. The caller's transaction holds the collection's row lock. */
export async function withdrawListings(
  session: Session,
  { marketplace, chainId }: Pick<PartnerCollectionState, "marketplace" | "chainId">,
  unseen: readonly Unseen[],
  now: Date,
): Promise<void> {
  const observations = unseen.map(({ generation, ...listing }) =>
    partnerListingWithdrawn(
      { ...listing, marketplace, chainId },
      { generation, seenAt: now, reason: "not_shown" },
    ),
  );
  await appendObservationsIn(session, observations);
  await sql`
    update ops.partner_listing set is_visible = false, generation = generation + 1
    where marketplace = ${marketplace} and chain_id = ${chainId}
      and order_hash = any (${byteaArray(unseen.map(({ orderHash }) => orderHash))})`.execute(
    session,
  );
}
