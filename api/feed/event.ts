import type { Address } from "viem";
import { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import {
  type EventContent,
  type EventId,
  eventTypes,
  type FeedEvent,
  type FeedEventType,
  formatEventId,
  type OrderContent,
} from "#projections/activity/feed-events.ts";
import type { ReadEvent } from "#projections/activity/read-feed.ts";
import { orderStatuses } from "#projections/domain/orders/order-status.ts";
import { commaList } from "../http/query.ts";
import { Sale } from "../v1/sales.ts";
import {
  address,
  chainIdValue,
  currency,
  displayAmount,
  hash,
  nameStandard,
  presentCurrency,
  priceText,
  standardName,
  time,
  uint256Text,
} from "../v1/wire.ts";

/** An order as an event of the order book tells it: with the other fields of the event, all that a follower needs. */
const BookOrderState = z
  .object({
    status: z.enum(orderStatuses).nullable().meta({
      description:
        "`active`: in the book, with these terms. Any other, and null in `order_removed`: out of it. Null also of prices.",
    }),
    reason: z.string().nullable().meta({ description: "Why it is inactive." }),
    kind: z.string().meta({ description: "`single-token`, or of bids what they are on." }),
    criteriaRoot: hash.nullable().meta({
      description:
        "Merkle root of the tokens of a bid of kind `trait` or `token-list`; `GET /v1/bids/{bidId}` tells how many they are, and their traits.",
    }),
    standard: standardName,
    sellerNetWei: uint256Text.meta({ description: "Per unit, what the seller gets." }),
    quantity: uint256Text.meta({ description: "Units of the signed order." }),
    quantityFilled: uint256Text,
    buyableViaApi: z.boolean(),
    fees: z.array(
      z.object({
        recipient: address,
        wei: uint256Text.meta({ description: "Per unit, out of the price." }),
        kind: z.string(),
      }),
    ),
  })
  .meta({ id: "BookOrderState" });

export const eventType = z.enum(eventTypes).meta({ id: "EventType" });

/** Something that happened to a token or an order, or that did not happen after all, or what the order book has since. */
export const Event = z
  .object({
    id: z.string().meta({ description: "Position in the feed; use it as `after`. Opaque." }),
    type: eventType,
    retracts: z
      .object({
        id: z.string(),
        type: eventType,
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
        "Nothing takes it back: its block was final when this answer was made, or it is an order that was submitted. Read again later, it may have become true. False of events of the order book, which later ones replace.",
    }),
    isHistory: z.boolean().meta({
      description:
        "It happened more than 15 minutes before this answer was made: part of catching up, nothing to notify anybody of.",
    }),
    chainId: chainIdValue,
    contract: address.nullable().meta({ description: "Of the NFT; null: unknown." }),
    tokenId: uint256Text.nullable().meta({
      description:
        "The first of `quantity` ids if a contract minted a range of them. Null in `metadata`: the collection's own; of a bid: any.",
    }),
    quantity: uint256Text
      .nullable()
      .meta({ description: "Of events of the order book: the units that can be filled." }),
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
      description:
        "Of a sale: which side's order was filled. Of events of the order book: `ask` listings, `bid` bids.",
    }),
    marketplace: z.string().nullable().meta({
      description:
        "Of sales, listings, offers and events of the order book. `unknown` if it cannot be attributed.",
    }),
    order: BookOrderState.nullable().meta({
      description:
        "Of events of the order book: what the order is since, or the order that makes the price. Null: of what happened, and of a price that no order makes any more.",
    }),
    previousPriceWei: uint256Text.nullable().meta({
      description: "Of `floor_changed` and `best_bid_changed`: null, there was none.",
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
    order: content.order && presentState(content.order),
    previousPriceWei: content.order?.terms.previousPriceWei ?? null,
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

/** Null where no order makes a price any more. */
function presentState({ status, reason, terms }: OrderContent) {
  const { kind, standard, sellerNetWei, quantity, filled, isBuyable, fees } = terms;
  if (kind === undefined || standard === undefined || isBuyable === undefined) return null;
  return {
    status,
    reason,
    kind,
    criteriaRoot: terms.criteria ?? null,
    standard: nameStandard(standard),
    sellerNetWei: sellerNetWei ?? "0",
    quantity: quantity ?? "0",
    quantityFilled: filled ?? "0",
    buyableViaApi: isBuyable,
    fees: (fees ?? []).map(({ recipient, unitWei: wei, kind }) => ({ recipient, wei, kind })),
  };
}

function presentSold({ type, sale, order }: EventContent) {
  if (sale !== null) return sale;
  const ofBook = order?.terms.marketplace ?? null;
  const marketplace = type === "listing" || type === "offer" ? "native" : ofBook;
  const side = order?.side ?? null;
  return { saleId: null, side, marketplace, protocol: null, via: null, bundleSize: null };
}

function textOf(value: bigint | null): string | null {
  return value === null ? null : String(value);
}

/** An event serialized for the wire, once for all subscribers. */
export type Framed = { readonly event: ReadEvent; readonly bytes: Buffer };

/** Serializes an event as the subscribers of one API expect it. */
export type FrameEvent = (event: ReadEvent) => Framed;

/** A server-sent event with the names of `/v1`. */
export const frameEvent: FrameEvent = (event) => {
  const presented = presentEvent(event, new Date());
  return frame(event, presented, presented);
};

/** The same with the account API's snake_case names. */
export const frameSnakeCase: FrameEvent = (event) => {
  const presented = presentEvent(event, new Date());
  const entries = Object.entries(presented).map(([name, value]) => [snakeCase(name), value]);
  return frame(event, presented, Object.fromEntries(entries));
};

/** JSON contains no line breaks. */
function frame(event: ReadEvent, { id, type }: { id: string; type: string }, data: object): Framed {
  const text = `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
  return { event, bytes: Buffer.from(text) };
}

const snakeNames = new Map<string, string>();

function snakeCase(name: string): string {
  const known = snakeNames.get(name);
  if (known !== undefined) return known;
  const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  snakeNames.set(name, snake);
  return snake;
}

/** Keeps an idle stream open and advances the client's last event id; without data the client dispatches nothing. */
export function heartbeatAt(place: EventId): Buffer {
  return Buffer.from(`: heartbeat\nid: ${formatEventId(place)}\n\n`);
}

/** The start of a stream: the reconnection delay and the client's current event id. */
export function greetingAt(place: EventId, retryMs: number): Buffer {
  return Buffer.from(`retry: ${retryMs}\nid: ${formatEventId(place)}\n\n`);
}

/** Of all types that events have, several times over. */
const maxTypeLength = 1_000;

const addressText = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, "must be a 0x address")
  .transform((text) => text.toLowerCase() as Address);

/** Query parameters that filter events; all must match. */
export const filterFields = {
  type: commaList(maxTypeLength)
    .pipe(z.array(eventType))
    .optional()
    .meta({
      description:
        "Event types, comma-separated. A type includes the retractions of such events; `retracted` selects all retractions. `listing` and `offer` are orders submitted here: listings of partner marketplaces are not events, and are found at `/v1/listings`. `metadata`: what a token or, without `tokenId`, a collection shows has changed. `order_activated` to `order_removed`, `floor_changed` and `best_bid_changed` are events of the order book, of all marketplaces: they come only where this names them, and only with `delivery=latest`. Who applies all of them from `0-0` on, by setting each order of `order.status` `active` and dropping it otherwise, has the active listings and bids. An order that was never active has none.",
      override: { type: "string" },
    }),
  collection: addressText.optional().meta({
    description:
      "0x address of an NFT contract. Includes cancels of orders for it that were submitted here or shown by a partner before; a raised counter, which cancels all of a maker's orders, is in no collection's events.",
    override: { type: "string", pattern: "^0x[a-fA-F0-9]{40}$" },
  }),
  wallet: addressText.optional().meta({
    description: "0x address of a sender, receiver, seller, buyer or order maker.",
    override: { type: "string", pattern: "^0x[a-fA-F0-9]{40}$" },
  }),
};

/** Which events are handed out, and when. */
export const delivery = z.enum(["latest", "final"]).default("latest").meta({
  description:
    "`final`: each event when its block is final, which no reorg takes back; without retractions and what they are of.",
});

type FilterQuery = {
  readonly type?: readonly FeedEventType[] | undefined;
  readonly collection?: Address | undefined;
  readonly wallet?: Address | undefined;
};

export type EventPredicate = (event: FeedEvent) => boolean;

/** What happened. Events of the order book are several times as many, and are for who asks for them. */
export const isUnasked: EventPredicate = ({ content }) => content.order === null;

/** A retraction matches when the event it retracts matches. */
export function eventFilter({ type, collection, wallet }: FilterQuery): EventPredicate {
  if (type === undefined && collection === undefined && wallet === undefined) return isUnasked;
  const types = type && new Set<FeedEventType>(type);
  return (event) => {
    const { content, retracts } = event;
    const isOfType =
      types === undefined
        ? isUnasked(event)
        : types.has(content.type) || (retracts !== null && types.has("retracted"));
    return (
      isOfType &&
      (collection === undefined || content.contract === collection) &&
      (wallet === undefined || content.from === wallet || content.to === wallet)
    );
  };
}
