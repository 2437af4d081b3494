import { z } from "zod";
import type { AdvancedOrder, OrderParameters } from "#projections/domain/seaport/fill.ts";
import type { ConsiderationItem, OfferItem, OrderComponents } from "#projections/domain/seaport/order-components.ts";
import { address, hash, uint256Text } from "../wire.ts";
import { considerationItem, offerItem } from "./order-terms.ts";

export const bytes = z.string().regex(/^0x([0-9a-f]{2})*$/);

/** What the exchange's `OrderComponents` and `OrderParameters` have in common. */
export const orderFields = {
  offerer: address,
  zone: address,
  offer: z.array(offerItem),
  consideration: z.array(considerationItem),
  orderType: z.int().min(0),
  startTime: uint256Text,
  endTime: uint256Text,
  zoneHash: hash,
  salt: uint256Text,
  conduitKey: hash,
};

const orderParameters = z
  .object({ ...orderFields, totalOriginalConsiderationItems: uint256Text })
  .meta({ id: "OrderParameters" });

/** The exchange's `AdvancedOrder`: an order and the fraction of it to fill. */
export const advancedOrderFields = {
  parameters: orderParameters,
  numerator: uint256Text,
  denominator: uint256Text,
  signature: bytes,
  extraData: bytes,
};

export function presentAdvancedOrder(order: AdvancedOrder) {
  return {
    parameters: presentParameters(order.parameters),
    numerator: String(order.numerator),
    denominator: String(order.denominator),
    signature: order.signature,
    extraData: order.extraData,
  };
}

function presentParameters(parameters: OrderParameters): z.output<typeof orderParameters> {
  return {
    ...presentOrder(parameters),
    totalOriginalConsiderationItems: String(parameters.totalOriginalConsiderationItems),
  };
}

export function presentOrder(order: Omit<OrderComponents, "counter">) {
  return {
    offerer: order.offerer,
    zone: order.zone,
    offer: order.offer.map(presentItem),
    consideration: order.consideration.map(presentLeg),
    orderType: order.orderType,
    startTime: String(order.startTime),
    endTime: String(order.endTime),
    zoneHash: order.zoneHash,
    salt: String(order.salt),
    conduitKey: order.conduitKey,
  };
}

function presentItem(item: OfferItem): z.output<typeof offerItem> {
  return {
    itemType: item.itemType,
    token: item.token,
    identifierOrCriteria: String(item.identifierOrCriteria),
    startAmount: String(item.startAmount),
    endAmount: String(item.endAmount),
  };
}

function presentLeg(leg: ConsiderationItem) {
  return { ...presentItem(leg), recipient: leg.recipient };
}
