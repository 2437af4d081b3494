import { randomBytes } from "node:crypto";
import { bytesToBigInt } from "viem";
import { commonConduit } from "../../../../abis/deployments.ts";
import {
  type BasicOrderParameters,
  basicOrderForItemBid,
} from "../../../../projections/domain/seaport/fill.ts";
import {
  type MatchedOrders,
  matchBidWithMirror,
} from "../../../../projections/domain/seaport/mirror-order.ts";
import type { CheckedOrder } from "../checks/check-order.ts";
import type { Sale } from "./accept-check.ts";

/** The exchange's method that sells into a bid, and its arguments. The caller encodes them. */
export type AcceptArguments =
  | {
      method: "fulfillBasicOrder_efficient_6GL6yc";
      basicOrderParameters: BasicOrderParameters;
    }
  | ({ method: "matchAdvancedOrders" } & MatchedOrders);

/** A mirror order is good for half an hour. */
const mirrorSeconds = 30 * 60;

/**
 * A bid on one token is filled whole by a basic order; one on a collection by a mirror of it, which its seller alone
 * can send. `minedAt` is the time of the block looked at, with which the mirror begins: the chain's time may be behind
 * ours. `endTime`: until when it can be sent, in unix seconds.
 */
export function argumentsFor(
  bid: CheckedOrder,
  sale: Sale,
  { minedAt, now }: { minedAt: Date; now: Date },
): { call: AcceptArguments; endTime: bigint } {
  const { endTime } = bid.components;
  if (bid.terms.tokenId !== null) {
    const basicOrderParameters = basicOrderForItemBid(bid, commonConduit.key);
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
