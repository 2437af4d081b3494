import type { Hex } from "viem";
import { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import { chainCalled } from "#chains/partners.ts";
import { bytes32 } from "#api/background/order-input/order-schema.ts";
import type { SkippedEntry, StreamedOrder } from "../partner.ts";
import { firstIssue } from "../partner-order-schema.ts";

/** Messages of OpenSea's Stream API: Phoenix channels, message format version 2. */

const ref = z.string().nullable();

/** A message, sent or received. */
export const StreamMessage = z.tuple([
  ref.describe("join reference"),
  ref.describe("message reference"),
  z.string().describe("topic"),
  z.string().describe("event"),
  z.unknown(),
]);

/** `phx_reply`. */
export const StreamReply = z.object({ status: z.string() });

/** Events about listings. Sales come from the chain. */
export const listingEvents = [
  "item_listed",
  "item_cancelled",
  "order_invalidate",
  "order_revalidate",
] as const;

const chain = z
  .union([z.string(), z.object({ name: z.string() }).transform(({ name }) => name)])
  .nullish();

/** The chain is stated next to the item, inside it, or both. */
const ListingEvent = z.object({
  payload: z.object({
    order_hash: bytes32,
    chain,
    item: z.object({ chain }).nullish(),
  }),
});

/** The order of an event; null: it is on an unsupported chain. */
export function parseStreamEvent(
  event: string,
  payload: unknown,
): StreamedOrder | SkippedEntry | null {
  const parsed = ListingEvent.safeParse(payload);
  if (!parsed.success) return malformed(`${event}.${firstIssue(parsed.error).path}`);
  const { order_hash: orderHash, chain: outerChain, item } = parsed.data.payload;
  const name = outerChain ?? item?.chain;
  if (name === undefined || name === null) return malformed(`${event}.payload.chain`);
  const chainId = chainCalled("opensea", name);
  return chainId === undefined ? null : toStreamedOrder(event, chainId, orderHash);
}

const toStreamedOrder = (event: string, chainId: ChainId, orderHash: Hex): StreamedOrder => ({
  chainId,
  orderHash,
  isNew: event === "item_listed",
});

export const malformed = (path: string): SkippedEntry => ({
  reason: "stream_malformed",
  path,
  concerns: "none",
});
