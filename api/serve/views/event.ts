import { z } from "zod";
import type { ChainId } from "../../../abis/deployments.ts";
import {
  eventTypes,
  type FeedEvent,
  formatEventId,
  type Told,
} from "../../../projections/reads/feed/event.ts";
import { displayAmount, presentCurrency } from "./money.ts";
import { address, chainIdValue, currency, hash, time, uint256Text } from "./wire.ts";

/** Something that happened to a token or an order, or that did not happen after all. */
export const Event = z
  .object({
    id: z.string().meta({ description: "Its place in the feed, to go on from. Opaque." }),
    type: z.enum(eventTypes),
    retracts: z
      .object({
        id: z.string(),
        type: z.enum(eventTypes),
        reason: z.enum(["reorg", "correction"]),
      })
      .nullable()
      .meta({
        description:
          "Of a `retracted` event: the one that is taken back; all other fields repeat it. `reorg`: its block left the chain. `correction`: its transaction is another sale than was told.",
      }),
    again: z.boolean().meta({ description: "Told anew: its block came back to the chain." }),
    chainId: chainIdValue,
    contract: address.nullable().meta({ description: "The NFT's; null where it is not known." }),
    tokenId: uint256Text.nullable().meta({
      description: "The first of `quantity` ids where a contract mints a range of them.",
    }),
    quantity: uint256Text.nullable(),
    from: address.nullable().meta({ description: "Giver, seller, or the order's maker." }),
    to: address.nullable(),
    price: z.number().nullable().meta({ description: "Per unit, in the currency." }),
    priceWei: uint256Text.nullable().meta({ description: "Per unit." }),
    totalWei: uint256Text.nullable(),
    currency: currency.nullable(),
    orderHash: hash.nullable().meta({
      description: "Null in a `cancel`: all open orders of `from`.",
    }),
    saleId: hash.nullable(),
    side: z.enum(["ask", "bid"]).nullable().meta({
      description: "Of a sale: which side's order was filled.",
    }),
    marketplace: z.string().nullable().meta({
      description: "Of sales, listings and offers. `unknown` when it cannot be told.",
    }),
    bundleSize: z.int().nullable().meta({ description: "NFTs that were sold for one price." }),
    startsAt: time.nullable(),
    expiresAt: time.nullable(),
    txHash: hash.nullable(),
    logIndex: z.int().min(0).nullable(),
    blockNumber: z.int().min(0).nullable(),
    blockHash: hash.nullable(),
    timestamp: time,
  })
  .meta({ id: "Event" });

export function presentEvent(event: FeedEvent): z.output<typeof Event> {
  const { told, retracts } = event;
  const { type, priceWei, blockNumber } = told;
  const chainId = told.chainId as ChainId;
  return {
    id: formatEventId(event),
    type: retracts === null ? type : "retracted",
    retracts: retracts && { id: formatEventId(retracts), type, reason: retracts.reason },
    again: event.isAgain,
    chainId,
    contract: told.contract,
    tokenId: textOf(told.tokenId),
    quantity: textOf(told.quantity),
    from: told.from,
    to: told.to,
    price: priceWei === null ? null : displayAmount(priceWei),
    priceWei: textOf(priceWei),
    totalWei: textOf(told.totalWei),
    currency: told.currency && presentCurrency(chainId, told.currency),
    orderHash: told.orderHash,
    ...presentSold(told),
    startsAt: told.startsAt?.toISOString() ?? null,
    expiresAt: told.expiresAt?.toISOString() ?? null,
    txHash: told.txHash,
    logIndex: told.logIndex,
    blockNumber: blockNumber === null ? null : Number(blockNumber),
    blockHash: told.blockHash,
    timestamp: told.timestamp.toISOString(),
  };
}

function presentSold({ type, sale }: Told) {
  if (sale !== null) return sale;
  const marketplace = type === "listing" || type === "offer" ? "native" : null;
  return { saleId: null, side: null, marketplace, bundleSize: null };
}

function textOf(value: bigint | null): string | null {
  return value === null ? null : String(value);
}
