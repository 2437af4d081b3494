import { type Hex, keccak256, slice, stringToHex } from "viem";
import type { ChainId } from "#chains/index.ts";
import {
  type ConsiderationItem,
  type OfferItem,
  type OrderComponents,
  orderTypes,
} from "../seaport/order-components.ts";
import { exchangeDomain } from "../seaport/order-hash.ts";
import type { MarketTerms } from "./order-terms.ts";

/** First four bytes of the salt of every order made for this market; identifies them on chain. */
export function saltPrefix(marketPrefix: string): Hex {
  return slice(keccak256(stringToHex(marketPrefix)), 0, 4);
}

/** EIP-712 domain and types that wallets sign with, the same for every order of a chain. */
export function signingParams(chainId: ChainId) {
  return {
    domain: exchangeDomain(chainId),
    types: orderTypes,
    primaryType: "OrderComponents",
  } as const;
}

/** The bounds as published: wei and units as decimal strings. */
export function publishedBounds({ bounds }: Pick<MarketTerms, "bounds">) {
  return {
    ...bounds,
    minPriceWei: `${bounds.minPriceWei}`,
    maxPriceWei: `${bounds.maxPriceWei}`,
    maxQuantity: `${bounds.maxQuantity}`,
  };
}

/** An item as it is signed, integers as decimal strings. */
type ItemToSign<Item extends OfferItem> = Omit<
  Item,
  "identifierOrCriteria" | "startAmount" | "endAmount"
> & { identifierOrCriteria: string; startAmount: string; endAmount: string };

/** The parts of an order that its maker must not change. */
export function fixedParts(components: OrderComponents) {
  const { zone, zoneHash, conduitKey, orderType, offer, consideration } = components;
  return {
    header: { zone, zoneHash, conduitKey, orderType },
    offer: offer.map(itemToSign<OfferItem>),
    consideration: consideration.map(itemToSign<ConsiderationItem>),
  };
}

function itemToSign<Item extends OfferItem>(item: Item): ItemToSign<Item> {
  return {
    ...item,
    identifierOrCriteria: `${item.identifierOrCriteria}`,
    startAmount: `${item.startAmount}`,
    endAmount: `${item.endAmount}`,
  };
}
