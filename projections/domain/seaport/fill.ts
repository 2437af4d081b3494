import { type Address, type Hex, zeroAddress, zeroHash } from "viem";
import { commonConduit } from "#abis/deployments.ts";
import {
  type ConsiderationItem,
  itemType,
  type OfferItem,
  type OrderComponents,
  orderType,
  type SignedOrder,
} from "./order-components.ts";

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

type CriteriaResolver = {
  orderIndex: bigint;
  side: number;
  index: bigint;
  identifier: bigint;
  criteriaProof: readonly Hex[];
};
type FulfillmentComponent = { orderIndex: bigint; itemIndex: bigint };
type Fulfillment = {
  offerComponents: readonly FulfillmentComponent[];
  considerationComponents: readonly FulfillmentComponent[];
};

/** Arguments of `matchAdvancedOrders`. */
export type MatchedOrders = {
  orders: readonly AdvancedOrder[];
  criteriaResolvers: readonly CriteriaResolver[];
  fulfillments: readonly Fulfillment[];
  recipient: Address;
};

/** `Side.CONSIDERATION`: the token is in the bid's consideration. */
const considerationSide = 1;

type BidAcceptance = {
  seller: Address;
  tokenId: bigint;
  units: bigint;
  /** Siblings of the token id under the bid's Merkle root; empty for a bid on every id. */
  criteriaProof: readonly Hex[];
  startTime: bigint;
  endTime: bigint;
  salt: bigint;
};

/**
 * Fills a collection bid by matching it with the seller's mirror order, which needs no signature
 * because the seller sends the transaction. The exchange emits `OrderFulfilled` for each of the two.
 */
export function matchBidWithMirror(bid: SignedOrder, acceptance: BidAcceptance): MatchedOrders {
  const legs = bid.components.consideration.length;
  const fromBid = (itemIndex: number) => fulfillment([0, 0], [0, itemIndex]);
  return {
    orders: [advancedOrder(bid, acceptance.units), mirrorOrder(bid, acceptance)],
    criteriaResolvers: [
      {
        orderIndex: 0n,
        side: considerationSide,
        index: 0n,
        identifier: acceptance.tokenId,
        criteriaProof: acceptance.criteriaProof,
      },
    ],
    fulfillments: [
      fulfillment([1, 0], [0, 0]),
      ...Array.from({ length: legs - 1 }, (_, leg) => fromBid(leg + 1)),
      fulfillment([0, 0], [1, 0]),
    ],
    recipient: acceptance.seller,
  };
}

function mirrorOrder(bid: SignedOrder, acceptance: BidAcceptance): AdvancedOrder {
  const [paid] = bid.components.offer;
  const [nft, ...feeLegs] = bid.components.consideration;
  if (paid === undefined || nft === undefined) throw new TypeError("The bid has an empty side");
  const { seller, units } = acceptance;
  const feesWei = feeLegs.reduce((sum, leg) => sum + leg.startAmount, 0n);
  const netWei = ((paid.startAmount - feesWei) * units) / orderQuantity(bid.components);
  return {
    parameters: {
      offerer: seller,
      zone: zeroAddress,
      offer: [
        {
          itemType: nft.itemType - itemType.erc721WithCriteria + itemType.erc721,
          token: nft.token,
          identifierOrCriteria: acceptance.tokenId,
          startAmount: units,
          endAmount: units,
        },
      ],
      consideration: [{ ...paid, startAmount: netWei, endAmount: netWei, recipient: seller }],
      orderType: orderType.fullOpen,
      startTime: acceptance.startTime,
      endTime: acceptance.endTime,
      zoneHash: zeroHash,
      salt: acceptance.salt,
      conduitKey: commonConduit.key,
      totalOriginalConsiderationItems: 1n,
    },
    numerator: 1n,
    denominator: 1n,
    signature: "0x",
    extraData: "0x",
  };
}

function fulfillment(offer: [number, number], consideration: [number, number]): Fulfillment {
  return {
    offerComponents: [component(offer)],
    considerationComponents: [component(consideration)],
  };
}

/** Which items of several orders are moved together. */
type AvailableFulfillments = {
  offer: readonly (readonly FulfillmentComponent[])[];
  consideration: readonly (readonly FulfillmentComponent[])[];
};

/**
 * The items of orders for `fulfillAvailableAdvancedOrders`, which leaves out those of an order that cannot be filled: each
 * NFT alone, and payments of one currency to one recipient as one.
 */
export function availableFulfillments(
  orders: readonly { parameters: Pick<OrderParameters, "offer" | "consideration"> }[],
): AvailableFulfillments {
  const payments = new Map<string, FulfillmentComponent[]>();
  for (const [orderIndex, { parameters }] of orders.entries()) {
    for (const [itemIndex, { itemType, token, recipient }] of parameters.consideration.entries()) {
      const name = `${itemType} ${token} ${recipient}`.toLowerCase();
      const together = payments.get(name) ?? [];
      together.push(component([orderIndex, itemIndex]));
      payments.set(name, together);
    }
  }
  const offer = orders.flatMap(({ parameters }, orderIndex) =>
    parameters.offer.map((_, itemIndex) => [component([orderIndex, itemIndex])]),
  );
  return { offer, consideration: [...payments.values()] };
}

const component = ([orderIndex, itemIndex]: [number, number]): FulfillmentComponent => ({
  orderIndex: BigInt(orderIndex),
  itemIndex: BigInt(itemIndex),
});
