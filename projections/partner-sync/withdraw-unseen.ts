import { sql } from "kysely";
import type { Address, Hex } from "viem";
import type { Database, Session } from "../database.ts";
import { partnerListingWithdrawn } from "../facts/partner-listing.ts";
import { appendObservationsIn } from "../log/append.ts";
import { bytes } from "../reads/orders/read-shown.ts";
import type { PartnerCollectionState } from "./due-collection.ts";
import { endPass, isCollection, isWalkedFrom } from "./move-collection.ts";

const atOnce = 500;

/**
 * Withdraws what a full pass that has read everything did not see, some at a time, and ends the pass when nothing is
 * left to withdraw. Those that have ended by now are forgotten: the clock has ended them. Returns how many it withdrew.
 */
export async function withdrawUnseen(
  db: Database,
  state: PartnerCollectionState,
  { now, nextAt }: { now: Date; nextAt: Date },
): Promise<number> {
  return await db.transaction().execute(async (session) => {
    if (!(await isWalkedFrom(session, state))) return 0;
    const unseen = (await isReadWhole(session, state)) ? await readUnseen(session, state, now) : [];
    if (unseen.length > 0) await withdraw(session, state, unseen, now);
    if (unseen.length < atOnce) {
      await endPass(session, state, { fullAt: now, dueAt: nextAt });
    }
    return unseen.length;
  });
}

async function isReadWhole(session: Session, state: PartnerCollectionState): Promise<boolean> {
  const { rows } = await sql`
    select from ops.partner_collection where ${isCollection(state)} and is_read_whole`.execute(
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
    where ${isCollection(state)} and is_shown and pass_number < ${state.passNumber}
    order by order_hash limit ${atOnce}`.execute(session);
  return rows;
}

/** Tells that listings are shown no longer, in the caller's transaction, which holds their collection's row. */
export async function withdraw(
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
    update ops.partner_listing set is_shown = false, generation = generation + 1
    where marketplace = ${marketplace} and chain_id = ${chainId}
      and order_hash = any (${bytes(unseen.map(({ orderHash }) => orderHash))})`.execute(session);
}
