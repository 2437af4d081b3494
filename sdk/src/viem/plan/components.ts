import type { Address, Hex } from "viem";
import type { ConsiderationItem, OfferItem, OrderComponents } from "../exchange.ts";

type TextItem = {
  itemType: number;
  token: string;
  identifierOrCriteria: string;
  startAmount: string;
  endAmount: string;
};

/** An order's components as the API and plans write them: integers as decimal strings. */
export type TextComponents = {
  offerer: string;
  zone: string;
  offer: readonly TextItem[];
  consideration: readonly (TextItem & { recipient: string })[];
  orderType: number;
  startTime: string;
  endTime: string;
  zoneHash: string;
  salt: string;
  conduitKey: string;
  counter: string;
};

export function parseComponents(text: TextComponents): OrderComponents {
  return {
    offerer: text.offerer as Address,
    zone: text.zone as Address,
    offer: text.offer.map(parseItem),
    consideration: text.consideration.map(
      (item): ConsiderationItem => ({ ...parseItem(item), recipient: item.recipient as Address }),
    ),
    orderType: text.orderType,
    startTime: BigInt(text.startTime),
    endTime: BigInt(text.endTime),
    zoneHash: text.zoneHash as Hex,
    salt: BigInt(text.salt),
    conduitKey: text.conduitKey as Hex,
    counter: BigInt(text.counter),
  };
}

function parseItem(item: TextItem): OfferItem {
  return {
    itemType: item.itemType,
    token: item.token as Address,
    identifierOrCriteria: BigInt(item.identifierOrCriteria),
    startAmount: BigInt(item.startAmount),
    endAmount: BigInt(item.endAmount),
  };
}
