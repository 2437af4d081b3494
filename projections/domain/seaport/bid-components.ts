import { type Address, zeroAddress, zeroHash } from "viem";
import type { Nft, OrderTerms } from "./listing-components.ts";
import { itemType, type OrderComponents, orderType } from "./order-components.ts";
import { type Price, priceLegs } from "./price-legs.ts";

/** One token, or any token of a contract whose id is under the merkle root (0: every id). */
export type Wanted = Nft | { standard: "erc721" | "erc1155"; contract: Address; criteria: bigint };

/**
 * A bid: wrapped native currency for `quantity` units, paid from an allowance to the exchange itself
 * (no conduit). Fee and royalty are paid out of the offered amount, in the same currency.
 */
export function bidComponents(
  bid: OrderTerms & { wanted: Wanted; quantity: bigint; price: Price; currency: Address },
): OrderComponents {
  const { quantity, wanted, currency } = bid;
  const byCriteria = "criteria" in wanted;
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
        itemType:
          itemType[byCriteria ? (`${wanted.standard}WithCriteria` as const) : wanted.standard],
        token: wanted.contract,
        identifierOrCriteria: byCriteria ? wanted.criteria : wanted.tokenId,
        startAmount: quantity,
        endAmount: quantity,
        recipient: bid.maker,
      },
      ...priceLegs(bid.price).taken.map(({ recipient, unitWei }) => ({
        itemType: itemType.erc20,
        token: currency,
        identifierOrCriteria: 0n,
        startAmount: unitWei * quantity,
        endAmount: unitWei * quantity,
        recipient,
      })),
    ],
    // The basic order that item bids are filled by takes no fraction.
    orderType: byCriteria && quantity > 1n ? orderType.partialOpen : orderType.fullOpen,
    startTime: bid.startTime,
    endTime: bid.endTime,
    zoneHash: zeroHash,
    salt: bid.salt,
    conduitKey: zeroHash,
    counter: bid.counter,
  };
}
