import { randomBytes } from "node:crypto";
import { bytesToBigInt } from "viem";
import { type BasicOrderParameters, basicOrderForItemBid, type MatchedOrders, matchBidWithMirror } from "#projections/domain/seaport/fill.ts";
import type { CheckedOrder } from "#jobs/orders/evaluate-order.ts";
import type { BidSale } from "#jobs/orders/evaluate-bid.ts";

/** The exchange's method that sells into a bid, and its arguments. The caller encodes them. */
export type AcceptArguments =
  | {
      method: "fulfillBasicOrder_efficient_6GL6yc";
      basicOrderParameters: BasicOrderParameters;
    }
  | ({ method: "matchAdvancedOrders" } & MatchedOrders);

/** A mirror order is valid for half an hour. */
const mirrorSeconds = 30 * 60;

/**
 * A bid on one token is filled whole as a basic order; a collection bid by a mirror order, which only its seller
 * can send. The mirror order starts at `minedAt`, the time of the latest block, which may be behind our clock.
 * `endTime`: until when the call can succeed, in unix seconds.
 */
export function acceptArguments(
  bid: CheckedOrder,
  sale: BidSale,
  { minedAt, now }: { minedAt: Date; now: Date },
): { call: AcceptArguments; endTime: bigint } {
  const { endTime } = bid.components;
  if (bid.terms.tokenId !== null) {
    const basicOrderParameters = basicOrderForItemBid(bid);
    return {
      call: { method: "fulfillBasicOrder_efficient_6GL6yc", basicOrderParameters },
      endTime,
    };
  }
  const latest = minedAt > now ? minedAt : now;
  const mirror = {
    startTime: unixSeconds(minedAt),
    endTime: unixSeconds(latest) + BigInt(mirrorSeconds),
    salt: bytesToBigInt(randomBytes(16)),
  };
  const matched = matchBidWithMirror(bid, { ...sale, ...mirror, criteriaProof: [] });
  return {
    call: { method: "matchAdvancedOrders", ...matched },
    endTime: endTime < mirror.endTime ? endTime : mirror.endTime,
  };
}

const unixSeconds = (time: Date) => BigInt(Math.floor(time.getTime() / 1000));
