import { type Address, zeroAddress, zeroHash } from "viem";
import type { MakerChoices, Nft } from "./listing-components.ts";
import { itemType, type OrderComponents, orderType } from "./order-components.ts";
import { type Price, priceLegs } from "./price-legs.ts";

/** One token, or any token of a contract whose id is under the Merkle root (0: every id). */
export type RequestedNft =
  | Nft
  | { standard: "erc721" | "erc1155"; contract: Address; criteria: bigint };

/**
 * A bid: wrapped native currency for `quantity` units, paid from an allowance to the exchange itself
 * (no conduit). Fee and royalty are paid out of the offered amount, in the same currency.
 */
export function bidComponents(
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
