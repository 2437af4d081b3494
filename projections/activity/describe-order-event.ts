import { zeroAddress } from "viem";
import type { OrderEvent } from "../orders/read-order-events.ts";
import { dateOf } from "./describe-feed.ts";
import type { EventContent, FeedEvent } from "./feed-events.ts";

/** An event of the order book as one of the feed. It is what the book has since, so nothing retracts it: a later one does. */
export function describeOrderEvent(event: OrderEvent): FeedEvent {
  const { position, ordinal } = event;
  return { position, ordinal, content: contentOf(event), retracts: null, isReadopted: false };
}

function contentOf(event: OrderEvent): EventContent {
  const { type, chainId, contract, orderHash, side, status, reason, terms } = event;
  const { tokenId, maker, priceWei, available, startTime, endTime } = terms;
  return {
    type,
    chainId,
    contract,
    tokenId: numberOf(tokenId),
    quantity: numberOf(available),
    from: maker ?? null,
    to: null,
    priceWei: numberOf(priceWei),
    totalWei:
      priceWei === undefined || available === undefined
        ? null
        : BigInt(priceWei) * BigInt(available),
    currency: maker === undefined ? null : (terms.currency ?? zeroAddress),
    orderHash,
    sale: null,
    order: { side, status, reason, terms },
    startsAt: startTime === undefined ? null : dateOf(startTime),
    expiresAt: endTime === undefined ? null : dateOf(endTime),
    txHash: null,
    logIndex: null,
    subIndex: null,
    blockNumber: null,
    blockHash: null,
    timestamp: event.happenedAt,
  };
}

const numberOf = (text: string | null | undefined): bigint | null =>
  text == null ? null : BigInt(text);
