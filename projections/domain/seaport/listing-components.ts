import { type Address, zeroAddress, zeroHash } from "viem";
import { commonConduit } from "#abis/deployments.ts";
import { type ConsiderationItem, itemType, type OrderComponents, orderType } from "./order-components.ts";
import { type Leg, type Price, priceLegs } from "./price-legs.ts";

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
export function listingComponents(
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
