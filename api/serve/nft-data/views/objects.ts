import type { z } from "zod";
import type { WalletTokenDetails } from "#projections/tokens/read-wallet-tokens.ts";
import { ActivityItem, presentActivity } from "#api/serve/views/activity-item.ts";
import { Collection, presentCollection } from "#api/serve/views/collection.ts";
import { HeldToken, presentHeld } from "#api/serve/views/held-token.ts";
import type { MediaLinks } from "#api/serve/views/media.ts";
import type { OrderViewContext } from "#api/serve/views/orders/book-order.ts";
import { presentToken, Token } from "#api/serve/views/token.ts";
import { TraitTypes } from "#api/serve/views/trait.ts";
import type { NftDataContext } from "../context.ts";
import { snake, snakeSchema } from "./snake.ts";

/** The objects of /v1, field by field, under names in snake_case. */
export const NftCollection = snakeSchema(Collection);
export const NftToken = snakeSchema(Token);
export const NftAttributes = snakeSchema(TraitTypes);

export const NftActivityItem = snakeSchema(ActivityItem);
export const NftHeldToken = snakeSchema(HeldToken);

type CollectionRow = Parameters<typeof presentCollection>[0];

export function presentNftCollection(
  row: CollectionRow,
  { siteUrl, prefix, media }: OrderViewContext & { media: MediaLinks },
  { coinPriceE8, isList }: { coinPriceE8: bigint | null; isList: boolean },
): z.output<typeof NftCollection> {
  const periods = ["24h", "7d", "30d", "all"] as const;
  const view = { siteUrl, prefix, coinPriceE8, media: { ...media, isList } };
  return snake(presentCollection(row, periods, view));
}

export function presentNftToken(...given: Parameters<typeof presentToken>) {
  return snake(presentToken(...given));
}

export function presentNftActivity(...given: Parameters<typeof presentActivity>) {
  return snake(presentActivity(...given));
}

export function presentNftHeld(row: WalletTokenDetails, context: NftDataContext) {
  return snake(presentHeld(row, context));
}
