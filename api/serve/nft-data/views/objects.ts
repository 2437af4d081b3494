import type { z } from "zod";
import type { WalletTokenDetails } from "../../../../projections/reads/tokens/read-wallet-tokens.ts";
import type { OrderViewContext } from "../../views/book-order.ts";
import { Collection, presentCollection } from "../../views/collection.ts";
import { presentToken, Token } from "../../views/token.ts";
import { TraitTypes } from "../../views/trait.ts";
import { uint256Text } from "../../views/wire.ts";
import type { NftDataContext } from "../context.ts";
import { snake, snakeSchema } from "./snake.ts";

/** The objects of /v1, field by field, under names in snake_case. */
export const NftCollection = snakeSchema(Collection);
export const NftToken = snakeSchema(Token);
export const NftAttributes = snakeSchema(TraitTypes);

/** A token that a wallet holds. */
export const HeldToken = snakeSchema(
  Token.extend({
    units: uint256Text.meta({ description: "Units that the wallet holds; 1 of an ERC-721 token." }),
  }).meta({ id: "HeldToken" }),
);

type CollectionRow = Parameters<typeof presentCollection>[0];

export function presentNftCollection(
  row: CollectionRow,
  { siteUrl, prefix }: OrderViewContext,
  coinPriceE8: bigint | null,
): z.output<typeof NftCollection> {
  const periods = ["24h", "7d", "30d", "all"] as const;
  return snake(presentCollection(row, periods, { siteUrl, prefix, coinPriceE8 }));
}

export function presentNftToken(...given: Parameters<typeof presentToken>) {
  return snake(presentToken(...given));
}

export function presentHeld(
  { held, collection, ...token }: WalletTokenDetails,
  { chainId, siteUrl, prefix }: NftDataContext,
): z.output<typeof HeldToken> {
  const named = { collection, chainId, view: { siteUrl, prefix } };
  return { ...snake(presentToken(token, named)), units: String(held.units) };
}
