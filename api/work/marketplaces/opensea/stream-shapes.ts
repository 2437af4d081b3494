import type { Hex } from "viem";
import { z } from "zod";
import { type ChainId, chainIds } from "../../../../abis/deployments.ts";
import { bytes32, firstIssue } from "../order-schema.ts";
import type { HeardOrder, Skipped } from "../partner.ts";
import { chainNames } from "./chain-names.ts";

/** What is used of OpenSea's Stream API: Phoenix channels, second version of their messages. */

const ref = z.string().nullable();

/** A message, sent or received. */
export const StreamMessage = z.tuple([
  ref.describe("of the join that it belongs to"),
  ref.describe("of the message that it answers"),
  z.string().describe("topic"),
  z.string().describe("event"),
  z.unknown(),
]);

/** `phx_reply`. */
export const StreamReply = z.object({ status: z.string() });

/** Events that tell of listings. Sales are told by the chain. */
export const listingEvents = [
  "item_listed",
  "item_cancelled",
  "order_invalidate",
  "order_revalidate",
] as const;

const chain = z
  .union([z.string(), z.object({ name: z.string() }).transform(({ name }) => name)])
  .nullish();

/** The chain stands beside the item, within it, or both. */
const ListingEvent = z.object({
  payload: z.object({
    order_hash: bytes32,
    chain,
    item: z.object({ chain }).nullish(),
  }),
});

/** The order that an event tells of; null: of a chain that is none of ours. */
export function readStreamEvent(event: string, payload: unknown): HeardOrder | Skipped | null {
  const parsed = ListingEvent.safeParse(payload);
  if (!parsed.success) return unreadable(`${event}.${firstIssue(parsed.error).path}`);
  const { order_hash: orderHash, chain: beside, item } = parsed.data.payload;
  const name = beside ?? item?.chain;
  if (name === undefined || name === null) return unreadable(`${event}.payload.chain`);
  const chainId = chainIds.find((id) => chainNames[id] === name);
  return chainId === undefined ? null : heard(event, chainId, orderHash);
}

const heard = (event: string, chainId: ChainId, orderHash: Hex): HeardOrder => ({
  ...{ chainId, orderHash, isNew: event === "item_listed" },
});

export const unreadable = (path: string): Skipped => ({
  ...{ reason: "stream_malformed", path, standsFor: "none" },
});
