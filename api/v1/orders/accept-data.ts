import { z } from "zod";
import { commonConduit, seaportAddresses } from "#abis/deployments.ts";
import { type AcceptedBid, acceptBestBid, acceptBid } from "#api/orders/accept-bid.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import type { BasicOrderParameters, MatchedOrders } from "#projections/domain/seaport/fill.ts";
import { route } from "../context.ts";
import { bidId, bodyChainId, tokenId, wallet } from "../parameters.ts";
import { address, chainIdValue, exactUnits, hash, time, uint256Text } from "../wire.ts";
import { advancedOrderFields, hexBytes, presentAdvancedOrder } from "./signed-order.ts";

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
    signature: hexBytes,
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

function presentAcceptData(accepted: AcceptedBid): z.output<typeof OfferAcceptData> {
  const shared = {
    bidId: accepted.bidId,
    chainId: accepted.chainId,
    to: seaportAddresses["1.6"],
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

const fulfiller = wallet.meta({ description: "The seller, who must send the transaction." });

const acceptAmount = z
  .int()
  .min(1)
  .transform(BigInt)
  .nullish()
  .meta({
    description: "Units of an ERC-1155 token. A bid on one token is always accepted whole.",
    override: { type: "integer", minimum: 1 },
  });

/** Rejection codes of accepting a bid. */
const acceptRefusals = {
  bad_structure: 422,
  unsupported_chain: 422,
  order_filled: 422,
  order_cancelled: 422,
  order_expired: 422,
  not_started: 422,
  token_burned: 422,
  contract_signature_invalid: 422,
  insufficient_balance: 422,
  insufficient_allowance: 422,
  token_required: 422,
  token_mismatch: 422,
  bad_amount: 422,
  self_offer: 422,
  not_owner: 422,
  insufficient_quantity: 422,
  conduit_channel_closed: 422,
  transfer_restricted: 422,
  rpc_unavailable: 422,
} as const;

export const acceptData = route(
  {
    method: "post",
    path: "/v1/bids/{bidId}/accept-data",
    operationId: "getAcceptData",
    tag: "Bids",
    loadClass: "orders",
    summary: "The call that accepts this bid, checked against the chain",
    params: z.object({ bidId }),
    body: z.strictObject({
      chainId: bodyChainId,
      fulfiller,
      tokenId: tokenId.nullish(),
      amount: acceptAmount,
    }),
    data: OfferAcceptData,
    refuses: { not_found: 404, ...acceptRefusals },
  },
  async ({ params, body }, { market, now }) => {
    const request = {
      chainId: body.chainId,
      bidId: params.bidId,
      seller: body.fulfiller,
      tokenId: body.tokenId ?? null,
      units: body.amount ?? null,
    };
    const accepted = await acceptBid(market, request, now());
    return isRejection(accepted) ? accepted : { data: presentAcceptData(accepted) };
  },
);

export const bestAcceptData = route(
  {
    method: "post",
    path: "/v1/bids/best-accept-data",
    operationId: "getBestAcceptData",
    tag: "Bids",
    loadClass: "orders",
    summary: "The call that accepts the bid with the highest net among those that pass the checks",
    body: z.strictObject({ chainId: bodyChainId, contract: wallet, tokenId, fulfiller }),
    data: OfferAcceptData,
    refuses: { not_found: 404, ...acceptRefusals },
  },
  async ({ body }, { market, now }) => {
    const { chainId, contract, tokenId, fulfiller: seller } = body;
    const request = { chainId, contract, tokenId, seller, units: null };
    const accepted = await acceptBestBid(market, request, now());
    return isRejection(accepted) ? accepted : { data: presentAcceptData(accepted) };
  },
);
