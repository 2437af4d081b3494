import { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import { type EventContent, eventTypes, formatEventId } from "#projections/activity/feed-events.ts";
import type { ReadEvent } from "#projections/activity/read-feed.ts";
import { displayAmount, presentCurrency } from "./money.ts";
import { Sale } from "./sale.ts";
import { address, chainIdValue, currency, hash, priceText, time, uint256Text } from "./wire.ts";

/** Something that happened to a token or an order, or that did not happen after all. */
export const Event = z
  .object({
    id: z.string().meta({ description: "Position in the feed; use it as `after`. Opaque." }),
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
          "Of a `retracted` event: the event that is retracted; all other fields repeat it. `reorg`: its block left the chain. `correction`: its transaction turned out to be a different sale.",
      }),
    again: z
      .boolean()
      .meta({ description: "Sent again, because its block came back to the chain after a reorg." }),
    isFinal: z.boolean().meta({
      description:
        "Nothing takes it back: its block was final when this answer was made, or it is an order that was submitted. Read again later, it may have become true.",
    }),
    isHistory: z.boolean().meta({
      description:
        "It happened more than 15 minutes before this answer was made: part of catching up, nothing to notify anybody of.",
    }),
    chainId: chainIdValue,
    contract: address.nullable().meta({ description: "Of the NFT; null: unknown." }),
    tokenId: uint256Text.nullable().meta({
      description:
        "The first of `quantity` ids if a contract minted a range of them. Null in `metadata`: the collection's own.",
    }),
    quantity: uint256Text.nullable(),
    from: address
      .nullable()
      .meta({ description: "The sender, the seller, or the maker of the order." }),
    to: address.nullable(),
    price: z.number().nullable().meta({ description: priceText }),
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
      description: "Of sales, listings and offers. `unknown` if it cannot be attributed.",
    }),
    protocol: Sale.shape.protocol.nullable().meta({
      description:
        "Of a sale: the exchange. Whether a sale looks like a wash trade is not part of its event, as later sales decide: `GET /v1/sales/{saleId}`.",
    }),
    via: Sale.shape.via,
    bundleSize: z.int().nullable().meta({ description: "NFTs that were sold for one price." }),
    startsAt: time.nullable(),
    expiresAt: time.nullable(),
    txHash: hash.nullable(),
    logIndex: z.int().min(0).nullable(),
    subIndex: z.int().min(0).nullable().meta({
      description:
        "Tells transfers of one log from each other: the last part of the `id` that `/v1/activity` gives them. Null: of a sale, which `saleId` tells from others, or of no log.",
    }),
    blockNumber: z.int().min(0).nullable().meta({
      description: "Of `metadata`: the block at which the document's address was read.",
    }),
    blockHash: hash.nullable(),
    timestamp: time,
  })
  .meta({ id: "Event" });

/** Events that are older than this when they are read are no news: a caller is catching up, or the service was. */
const historyMs = 15 * 60_000;

export function presentEvent(event: ReadEvent, now: Date): z.output<typeof Event> {
  const { content, retracts } = event;
  const { type, priceWei, blockNumber } = content;
  const chainId = content.chainId as ChainId;
  return {
    id: formatEventId(event),
    type: retracts === null ? type : "retracted",
    retracts: retracts && { id: formatEventId(retracts), type, reason: retracts.reason },
    again: event.isReadopted,
    isFinal: event.isFinal,
    isHistory: now.getTime() - content.timestamp.getTime() > historyMs,
    chainId,
    contract: content.contract,
    tokenId: textOf(content.tokenId),
    quantity: textOf(content.quantity),
    from: content.from,
    to: content.to,
    price: priceWei === null ? null : displayAmount(priceWei),
    priceWei: textOf(priceWei),
    totalWei: textOf(content.totalWei),
    currency: content.currency && presentCurrency(chainId, content.currency),
    orderHash: content.orderHash,
    ...presentSold(content),
    startsAt: content.startsAt?.toISOString() ?? null,
    expiresAt: content.expiresAt?.toISOString() ?? null,
    txHash: content.txHash,
    logIndex: content.logIndex,
    subIndex: content.subIndex,
    blockNumber: blockNumber === null ? null : Number(blockNumber),
    blockHash: content.blockHash,
    timestamp: content.timestamp.toISOString(),
  };
}

function presentSold({ type, sale }: EventContent) {
  if (sale !== null) return sale;
  const marketplace = type === "listing" || type === "offer" ? "native" : null;
  return { saleId: null, side: null, marketplace, protocol: null, via: null, bundleSize: null };
}

function textOf(value: bigint | null): string | null {
  return value === null ? null : String(value);
}
