import { zeroAddress } from "viem";
import { currencies } from "#chains/coins.ts";
import { type ChainId, chainById } from "#chains/index.ts";
import type {
  ConsiderationItem,
  OfferItem,
  OrderComponents,
} from "#projections/domain/seaport/order-components.ts";
import type { StoredListing } from "./listing-store.ts";

/** Item amounts and identifiers as decimal strings. */
export const presentItem = <Item extends OfferItem | ConsiderationItem>(item: Item) => ({
  ...item,
  identifierOrCriteria: `${item.identifierOrCriteria}`,
  startAmount: `${item.startAmount}`,
  endAmount: `${item.endAmount}`,
});

/** An order with its counter, every large number a decimal string. */
export const presentWhole = (components: OrderComponents) => ({
  ...components,
  offer: components.offer.map(presentItem),
  consideration: components.consideration.map(presentItem),
  startTime: `${components.startTime}`,
  endTime: `${components.endTime}`,
  salt: `${components.salt}`,
  counter: `${components.counter}`,
});

/** A counter as OpenSea sends it: an integer of any size. */
export const presentCounter = (counter: bigint): number | string =>
  counter <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(counter) : `${counter}n`;

/** JSON in which the large integers that `presentCounter` marked stand bare. */
export const stringifyBare = (body: unknown): string =>
  JSON.stringify(body).replace(/"counter":"(\d+)n"/g, '"counter":$1');

/** Symbols of a chain's native currency and of its wrapped form. */
export function currenciesOf(chainId: ChainId): readonly [native: string, wrapped: string] {
  const { coin, wrapped } = chainById(chainId);
  return [currencies[coin].symbol, wrapped.symbol];
}

export const symbolOf = ({ chainId, order }: StoredListing): string => {
  const [native, wrapped] = currenciesOf(chainId);
  return order.components.consideration[0]?.token === zeroAddress ? native : wrapped;
};
