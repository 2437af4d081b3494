import type { Address } from "viem";
import { z } from "zod";
import {
  type EventType,
  eventTypes,
  type FeedEvent,
} from "../../../projections/reads/feed/event.ts";

const word = z.enum(eventTypes);
const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, "must be a 0x address")
  .transform((text) => text.toLowerCase() as Address);

/** Query parameters that choose events; all must match. */
export const filterFields = {
  type: z
    .string()
    .transform((text) => text.split(","))
    .pipe(z.array(word))
    .optional()
    .meta({
      description:
        "Types, comma-separated. A type includes what takes such events back; `retracted` is all that takes back.",
      override: { type: "string" },
    }),
  collection: address.optional().meta({
    description: "0x address of an NFT contract.",
    override: { type: "string", pattern: "^0x[a-fA-F0-9]{40}$" },
  }),
  wallet: address.optional().meta({
    description: "0x address that gives, takes, sells, buys or makes an order.",
    override: { type: "string", pattern: "^0x[a-fA-F0-9]{40}$" },
  }),
};

export type FilterQuery = {
  readonly type?: readonly EventType[] | undefined;
  readonly collection?: Address | undefined;
  readonly wallet?: Address | undefined;
};

export type Wants = (event: FeedEvent) => boolean;

const all: Wants = () => true;

/** An event that takes another back passes where that one passes. */
export function eventFilter({ type, collection, wallet }: FilterQuery): Wants {
  if (type === undefined && collection === undefined && wallet === undefined) return all;
  const types = type && new Set<EventType>(type);
  return ({ told, retracts }) =>
    (types === undefined ||
      types.has(told.type) ||
      (retracts !== null && types.has("retracted"))) &&
    (collection === undefined || told.contract === collection) &&
    (wallet === undefined || told.from === wallet || told.to === wallet);
}

export function wantsAll(wants: Wants): boolean {
  return wants === all;
}
