import { z } from "zod";
import { commonConduit, seaport } from "#abis/deployments.ts";
import type { BasicOrderParameters, MatchedOrders } from "#projections/domain/seaport/fill.ts";
import type { AcceptedBid } from "#api/orders/accept-bid.ts";
import { address, chainIdValue, exactUnits, hash, time, uint256Text } from "../wire.ts";
import { advancedOrderFields, bytes, presentAdvancedOrder } from "./advanced-order.ts";

const basicOrderParameters = z
  .object({
    considerationToken: address,
    considerationIdentifier: uint256Text,
    considerationAmount: uint256Text,
    offerer: address,
    zone: address,
    offerToken: address,
    offerIdentifier: uint256Text,
    offerAmount: uint256Text,
    basicOrderType: z.int().min(0),
    startTime: uint256Text,
    endTime: uint256Text,
    zoneHash: hash,
    salt: uint256Text,
    offererConduitKey: hash,
    fulfillerConduitKey: hash,
    totalOriginalAdditionalRecipients: uint256Text,
    additionalRecipients: z.array(z.object({ amount: uint256Text, recipient: address })),
    signature: bytes,
  })
  .meta({ id: "BasicOrderParameters" });

const fulfillmentComponents = z.array(
  z.object({ orderIndex: uint256Text, itemIndex: uint256Text }),
);

const matchedOrders = {
  orders: z.array(z.object(advancedOrderFields).meta({ id: "AdvancedOrder" })),
  criteriaResolvers: z.array(
    z.object({
      orderIndex: uint256Text,
      side: z.int().min(0),
      index: uint256Text,
      identifier: uint256Text,
      criteriaProof: z.array(hash),
    }),
  ),
  fulfillments: z.array(
    z.object({
      offerComponents: fulfillmentComponents,
      considerationComponents: fulfillmentComponents,
    }),
  ),
  recipient: address,
};

const common = {
  bidId: z.string(),
  chainId: chainIdValue,
  to: address.meta({ description: "The exchange. The transaction must come from the seller." }),
  value: z.literal("0"),
  approval: z
    .object({
      operator: address.meta({ description: "The operator that the seller must approve." }),
      token: address,
      isApproved: z.boolean().nullable().meta({ description: "Null: unknown." }),
    })
    .meta({ id: "SellerApproval" }),
  tokenId: uint256Text,
  quantity: z.int().min(1).meta({ description: "Units sold." }),
  quantityExact: exactUnits,
  sellerNetWei: uint256Text.meta({ description: "What the seller receives for all units sold." }),
  validUntil: time,
};

/** The call that accepts a bid; its arguments depend on `method`. */
export const OfferAcceptData = z
  .discriminatedUnion("method", [
    z.object({
      ...common,
      method: z.literal("fulfillBasicOrder_efficient_6GL6yc"),
      basicOrderParameters,
    }),
    z.object({ ...common, method: z.literal("matchAdvancedOrders"), ...matchedOrders }),
  ])
  .meta({ id: "OfferAcceptData" });

export function presentAcceptData(accepted: AcceptedBid): z.output<typeof OfferAcceptData> {
  const shared = {
    bidId: accepted.bidId,
    chainId: accepted.chainId,
    to: seaport["1.6"],
    value: "0" as const,
    approval: {
      operator: commonConduit.address,
      token: accepted.contract,
      isApproved: accepted.isApproved,
    },
    tokenId: String(accepted.tokenId),
    quantity: Number(accepted.units),
    quantityExact: String(accepted.units),
    sellerNetWei: String(accepted.sellerNetWei),
    validUntil: accepted.validUntil.toISOString(),
  };
  const { call } = accepted;
  if (call.method === "matchAdvancedOrders") {
    return { ...shared, method: call.method, ...presentMatch(call) };
  }
  const { method, basicOrderParameters: basic } = call;
  return { ...shared, method, basicOrderParameters: presentBasic(basic) };
}

function presentBasic(basic: BasicOrderParameters): z.output<typeof basicOrderParameters> {
  return {
    ...basic,
    considerationIdentifier: String(basic.considerationIdentifier),
    considerationAmount: String(basic.considerationAmount),
    offerIdentifier: String(basic.offerIdentifier),
    offerAmount: String(basic.offerAmount),
    startTime: String(basic.startTime),
    endTime: String(basic.endTime),
    salt: String(basic.salt),
    totalOriginalAdditionalRecipients: String(basic.totalOriginalAdditionalRecipients),
    additionalRecipients: basic.additionalRecipients.map(({ amount, recipient }) => ({
      amount: String(amount),
      recipient,
    })),
  };
}

type Component = { orderIndex: bigint; itemIndex: bigint };

function presentMatch({ orders, criteriaResolvers, fulfillments, recipient }: MatchedOrders) {
  return {
    orders: orders.map(presentAdvancedOrder),
    criteriaResolvers: criteriaResolvers.map((resolver) => ({
      orderIndex: String(resolver.orderIndex),
      side: resolver.side,
      index: String(resolver.index),
      identifier: String(resolver.identifier),
      criteriaProof: [...resolver.criteriaProof],
    })),
    fulfillments: fulfillments.map(({ offerComponents, considerationComponents }) => ({
      offerComponents: offerComponents.map(presentComponent),
      considerationComponents: considerationComponents.map(presentComponent),
    })),
    recipient,
  };
}

function presentComponent({ orderIndex, itemIndex }: Component) {
  return { orderIndex: String(orderIndex), itemIndex: String(itemIndex) };
}
