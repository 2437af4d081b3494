import type { Address } from "viem";
import { z } from "zod";
import { type FeedEventType, eventTypes, type FeedEvent } from "#projections/activity/feed-events.ts";
import { commaList } from "../http/comma-list.ts";

const word = z.enum(eventTypes);
/** Of all types that events have, several times over. */
const maxTypeLength = 1_000;

const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, "must be a 0x address")
  .transform((text) => text.toLowerCase() as Address);

/** Query parameters that filter events; all must match. */
export const filterFields = {
  type: commaList(maxTypeLength)
    .pipe(z.array(word))
    .optional()
    .meta({
      description:
        "Event types, comma-separated. A type includes the retractions of such events; `retracted` selects all retractions. `listing` and `offer` are orders submitted here: listings of partner marketplaces are not events, and are found at `/v1/listings`. `metadata`: what a token or, without `tokenId`, a collection shows has changed.",
      override: { type: "string" },
    }),
  collection: address.optional().meta({
    description:
      "0x address of an NFT contract. Includes cancels of orders for it that were submitted here or shown by a partner before; a raised counter, which cancels all of a maker's orders, is in no collection's events.",
    override: { type: "string", pattern: "^0x[a-fA-F0-9]{40}$" },
  }),
  wallet: address.optional().meta({
    description: "0x address of a sender, receiver, seller, buyer or order maker.",
    override: { type: "string", pattern: "^0x[a-fA-F0-9]{40}$" },
  }),
};

/** Which events are handed out, and when. */
export const delivery = z.enum(["latest", "final"]).default("latest").meta({
  description:
    "`final`: each event when its block is final, which no reorg takes back; without retractions and what they are of.",
});

export type FilterQuery = {
  readonly type?: readonly FeedEventType[] | undefined;
  readonly collection?: Address | undefined;
  readonly wallet?: Address | undefined;
};

export type EventPredicate = (event: FeedEvent) => boolean;

const all: EventPredicate = () => true;

/** A retraction matches when the event it retracts matches. */
export function eventFilter({ type, collection, wallet }: FilterQuery): EventPredicate {
  if (type === undefined && collection === undefined && wallet === undefined) return all;
  const types = type && new Set<FeedEventType>(type);
  return ({ content, retracts }) =>
    (types === undefined ||
      types.has(content.type) ||
      (retracts !== null && types.has("retracted"))) &&
    (collection === undefined || content.contract === collection) &&
    (wallet === undefined || content.from === wallet || content.to === wallet);
}

export function matchesEverything(wants: EventPredicate): boolean {
  return wants === all;
}
