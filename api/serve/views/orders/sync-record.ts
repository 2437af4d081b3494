import { z } from "zod";
import { bidReasons, listingReasons } from "#projections/domain/orders/order-status.ts";
import { hash, time } from "../wire.ts";
import { Bid } from "./bid.ts";
import { orderStatus } from "./book-order.ts";
import { Listing } from "./listing.ts";

const checked = {
  orderHash: hash,
  status: orderStatus,
  checkedAt: time,
  checkedAtBlock: z.int().min(0).meta({ description: "The block whose state was read." }),
};

/** A listing after a sync with the chain. */
export const AskSync = z
  .object({
    askId: z.string(),
    ...checked,
    invalidReason: z.enum(listingReasons).nullable(),
    row: Listing,
  })
  .meta({ id: "AskSync" });

/** A bid after a sync with the chain. */
export const BidSync = z
  .object({
    bidId: z.string(),
    ...checked,
    inactiveReason: z.enum(bidReasons).nullable(),
    row: Bid,
  })
  .meta({ id: "BidSync" });

export type SyncCheck = { at: Date; blockNumber: bigint };

export function presentAskSync(
  row: z.output<typeof Listing>,
  check: SyncCheck,
): z.output<typeof AskSync> {
  const { askId, orderHash, status, invalidReason } = row;
  return { askId, orderHash, status, invalidReason, ...presentCheck(check), row };
}

export function presentBidSync(
  row: z.output<typeof Bid>,
  check: SyncCheck,
): z.output<typeof BidSync> {
  const { bidId, orderHash, status, inactiveReason } = row;
  return { bidId, orderHash, status, inactiveReason, ...presentCheck(check), row };
}

function presentCheck({ at, blockNumber }: SyncCheck) {
  return { checkedAt: at.toISOString(), checkedAtBlock: Number(blockNumber) };
}
