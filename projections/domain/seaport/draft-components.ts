import { type Address, zeroAddress, zeroHash } from "viem";
import { commonConduit } from "#abis/deployments.ts";
import {
  type ConsiderationItem,
  itemType,
  type OrderComponents,
  orderType,
} from "./order-components.ts";

export type Nft = { standard: "erc721" | "erc1155"; contract: Address; tokenId: bigint };

/** The parts of an order that its maker chooses. */
export type MakerChoices = {
  maker: Address;
  startTime: bigint;
  endTime: bigint;
  salt: bigint;
  counter: bigint;
};

/** A listing: `quantity` units of one token for native currency, moved by the common conduit. */
export function draftListingComponents(
  listing: MakerChoices & { nft: Nft; quantity: bigint; price: Price },
): OrderComponents {
  const { nft, quantity } = listing;
  const legs = priceLegs(listing.price);
  const nativeLeg = ({ recipient, unitWei }: Leg): ConsiderationItem => ({
    itemType: itemType.native,
    token: zeroAddress,
    identifierOrCriteria: 0n,
    startAmount: unitWei * quantity,
    endAmount: unitWei * quantity,
    recipient,
  });
  return {
    offerer: listing.maker,
    zone: zeroAddress,
    offer: [
      {
        itemType: itemType[nft.standard],
        token: nft.contract,
        identifierOrCriteria: nft.tokenId,
        startAmount: quantity,
        endAmount: quantity,
      },
    ],
    consideration: [{ recipient: listing.maker, unitWei: legs.sellerNetWei }, ...legs.feeLegs].map(
      nativeLeg,
    ),
    orderType: quantity === 1n ? orderType.fullOpen : orderType.partialOpen,
    startTime: listing.startTime,
    endTime: listing.endTime,
    zoneHash: zeroHash,
    salt: listing.salt,
    conduitKey: commonConduit.key,
    counter: listing.counter,
  };
}

/** One token, or any token of a contract whose id is under the Merkle root (0: every id). */
export type RequestedNft =
  | Nft
  | { standard: "erc721" | "erc1155"; contract: Address; criteria: bigint };

/**
 * A bid: wrapped native currency for `quantity` units, paid from an allowance to the exchange itself
 * (no conduit). Fee and royalty are paid out of the offered amount, in the same currency.
 */
export function draftBidComponents(
  bid: MakerChoices & { nft: RequestedNft; quantity: bigint; price: Price; currency: Address },
): OrderComponents {
  const { quantity, nft, currency } = bid;
  const isCriteria = "criteria" in nft;
  const offeredWei = bid.price.unitPriceWei * quantity;
  return {
    offerer: bid.maker,
    zone: zeroAddress,
    offer: [
      {
        itemType: itemType.erc20,
        token: currency,
        identifierOrCriteria: 0n,
        startAmount: offeredWei,
        endAmount: offeredWei,
      },
    ],
    consideration: [
      {
        itemType: itemType[isCriteria ? (`${nft.standard}WithCriteria` as const) : nft.standard],
        token: nft.contract,
        identifierOrCriteria: isCriteria ? nft.criteria : nft.tokenId,
        startAmount: quantity,
        endAmount: quantity,
        recipient: bid.maker,
      },
      ...priceLegs(bid.price).feeLegs.map(({ recipient, unitWei }) => ({
        itemType: itemType.erc20,
        token: currency,
        identifierOrCriteria: 0n,
        startAmount: unitWei * quantity,
        endAmount: unitWei * quantity,
        recipient,
      })),
    ],
    // Item bids are filled as basic orders, which cannot be filled in parts.
    orderType: isCriteria && quantity > 1n ? orderType.partialOpen : orderType.fullOpen,
    startTime: bid.startTime,
    endTime: bid.endTime,
    zoneHash: zeroHash,
    salt: bid.salt,
    conduitKey: zeroHash,
    counter: bid.counter,
  };
}

/** A price and the fees deducted from it. `unitPriceWei` and `royaltyWei` are per unit. */
export type Price = {
  unitPriceWei: bigint;
  fee: { recipient: Address; bps: number };
  /** ERC-2981's or a marketplace's creator fee; `null` or 0 wei leaves the leg out. */
  royalty: { recipient: Address; royaltyWei: bigint } | null;
};

export type Leg = { recipient: Address; unitWei: bigint };

/** Wei per unit: the service fee rounds down; the seller receives the rest. */
export function priceLegs(price: Price): { sellerNetWei: bigint; feeLegs: readonly Leg[] } {
  const feeWei = (price.unitPriceWei * BigInt(price.fee.bps)) / 10_000n;
  const royaltyWei = price.royalty?.royaltyWei ?? 0n;
  const feeLegs = [
    { recipient: price.fee.recipient, unitWei: feeWei },
    ...(price.royalty === null
      ? []
      : [{ recipient: price.royalty.recipient, unitWei: royaltyWei }]),
  ];
  return {
    sellerNetWei: price.unitPriceWei - feeWei - royaltyWei,
    // Seaport refuses items of amount 0 (MissingItemAmount).
    feeLegs: feeLegs.filter((leg) => leg.unitWei > 0n),
  };
}
