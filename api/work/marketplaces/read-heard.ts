import type { ChainId } from "../../../abis/deployments.ts";
import type { Database } from "../../../projections/database.ts";
import { isRejection } from "../../../projections/domain/rejection.ts";
import { isKnownListing, readCreators } from "../../../projections/partner-sync/read-watched.ts";
import { recordGone, recordSeen } from "../../../projections/partner-sync/record-heard.ts";
import type { Heard, HeardInbox } from "./heard-inbox.ts";
import type { Partner, PartnerStream } from "./partner.ts";

type Work = {
  db: Database;
  partner: Pick<Partner, "name">;
  stream: Pick<PartnerStream, "fetchHeard">;
  /** The chains served. */
  chainIds: readonly ChainId[];
  inbox: HeardInbox;
  now: () => Date;
};

/** A partner may tell of a listing before it can be asked for it. Milliseconds. */
const againMs = 3_000;

/**
 * Asks the partner for an order that was heard of, and records what it shows. What changed of an order that is no
 * listing that was seen, an offer for example, costs no request. `failed`: the passes find it.
 */
export async function readHeard(work: Work, heard: Heard): Promise<"done" | "failed"> {
  const { db, partner, stream, inbox, now } = work;
  const { slug, order } = heard;
  const named = { marketplace: partner.name, ...order };
  if (!work.chainIds.includes(order.chainId)) return "done";
  if (!order.isNew && !(await isKnownListing(db, named, order.orderHash))) return "done";
  const shown = await stream.fetchHeard(order, await readCreators(db, named, slug));
  if (shown !== null && isRejection(shown)) {
    inbox.ear.onMissed(slug);
    return "failed";
  }
  if (shown === null && order.isNew && heard.asked === 0) {
    setTimeout(() => inbox.put({ ...heard, asked: 1 }), againMs).unref();
    return "done";
  }
  if (shown === null) await recordGone(db, named, now());
  else if (!("reason" in shown)) await recordSeen(db, shown, now());
  else if (shown.standsFor === "none") await recordGone(db, named, now());
  else inbox.ear.onSkipped(shown);
  return "done";
}
