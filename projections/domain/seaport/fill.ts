import type { Address, Hex } from "viem";
import { commonConduit } from "#abis/deployments.ts";
import { type ConsiderationItem, itemType, type OfferItem, type OrderComponents, orderType, type SignedOrder } from "./order-components.ts";

/** An order as the exchange's functions take it: the exchange reads the counter itself. */
export type OrderParameters = Omit<OrderComponents, "counter"> & {
  totalOriginalConsiderationItems: bigint;
};

export type AdvancedOrder = {
  parameters: OrderParameters;
  numerator: bigint;
  denominator: bigint;
  signature: Hex;
  extraData: Hex;
};

export type BasicOrderParameters = {
  considerationToken: Address;
  considerationIdentifier: bigint;
  considerationAmount: bigint;
  offerer: Address;
  zone: Address;
  offerToken: Address;
  offerIdentifier: bigint;
  offerAmount: bigint;
  basicOrderType: number;
  startTime: bigint;
  endTime: bigint;
  zoneHash: Hex;
  salt: bigint;
  offererConduitKey: Hex;
  fulfillerConduitKey: Hex;
  totalOriginalAdditionalRecipients: bigint;
  additionalRecipients: readonly { amount: bigint; recipient: Address }[];
  signature: Hex;
};

export function orderParameters(components: OrderComponents): OrderParameters {
  const { counter: _, ...parameters } = components;
  return {
    ...parameters,
    totalOriginalConsiderationItems: BigInt(components.consideration.length),
  };
}

/** The order and the fraction to fill: `units` of the quantity signed; absent: everything left. */
export function advancedOrder(order: SignedOrder, units?: bigint): AdvancedOrder {
  const share =
    units === undefined
      ? { numerator: 1n, denominator: 1n }
      : lowestTerms(units, orderQuantity(order.components));
  return {
    parameters: orderParameters(order.components),
    ...share,
    signature: order.signature,
    extraData: "0x",
  };
}

/** Units of the NFT: offered by a listing, requested by a bid. */
export function orderQuantity({ offer, consideration }: OrderComponents): bigint {
  return [...offer, ...consideration].find(isNftItem)?.startAmount ?? 0n;
}

/** Order types of which the exchange fills all at once or nothing. */
export const wholeOrderTypes: readonly number[] = [orderType.fullOpen, orderType.fullRestricted];

export const isFilledWhole = (order: Pick<OrderComponents, "orderType">) =>
  wholeOrderTypes.includes(order.orderType);

const isNftItem = (item: OfferItem) => item.itemType >= itemType.erc721;

/** The exchange stores fills as fractions of 120 bits and multiplies them: lowest terms avoid overflow. */
function lowestTerms(units: bigint, quantity: bigint) {
  const divisor = greatestCommonDivisor(units, quantity);
  return { numerator: units / divisor, denominator: quantity / divisor };
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  return b === 0n ? a : greatestCommonDivisor(b, a % b);
}

/** First of the four `BasicOrderType`s of the routes in which the fulfiller sells an NFT for ERC-20. */
const basicRoute: Record<number, number> = {
  [itemType.erc721]: 16,
  [itemType.erc1155]: 20,
};

/**
 * Fills an item bid by `fulfillBasicOrder_efficient_6GL6yc`: the fees come out of the bidder's
 * payment, so the seller needs no balance or allowance of the currency. Seaport `BasicOrderType`.
 */
export function basicOrderForItemBid(bid: SignedOrder): BasicOrderParameters {
  const { components } = bid;
  const [paid] = components.offer;
  const [nft, ...recipients] = components.consideration;
  const route = basicRoute[nft?.itemType ?? -1];
  if (paid === undefined || nft === undefined || route === undefined) {
    throw new TypeError("A basic order pays ERC-20 for one ERC-721 or ERC-1155 token");
  }
  return {
    considerationToken: nft.token,
    considerationIdentifier: nft.identifierOrCriteria,
    considerationAmount: nft.startAmount,
    offerer: components.offerer,
    zone: components.zone,
    offerToken: paid.token,
    offerIdentifier: 0n,
    offerAmount: paid.startAmount,
    basicOrderType: route + components.orderType,
    startTime: components.startTime,
    endTime: components.endTime,
    zoneHash: components.zoneHash,
    salt: components.salt,
    offererConduitKey: components.conduitKey,
    fulfillerConduitKey: commonConduit.key,
    totalOriginalAdditionalRecipients: BigInt(recipients.length),
    additionalRecipients: recipients.map(additionalRecipient),
    signature: bid.signature,
  };
}

const additionalRecipient = ({ startAmount, recipient }: ConsiderationItem) => ({
  amount: startAmount,
  recipient,
});
