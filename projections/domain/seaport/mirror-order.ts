import { type Address, type Hex, zeroAddress, zeroHash } from "viem";
import { commonConduit } from "#abis/deployments.ts";
import { type AdvancedOrder, advancedOrder, orderQuantity } from "./fill.ts";
import { itemType, orderType, type SignedOrder } from "./order-components.ts";

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

export type BidAcceptance = {
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

const component = ([orderIndex, itemIndex]: [number, number]): FulfillmentComponent => ({
  orderIndex: BigInt(orderIndex),
  itemIndex: BigInt(itemIndex),
});
