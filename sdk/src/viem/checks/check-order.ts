import { type Address, zeroAddress, zeroHash } from "viem";
import type { ChainId } from "../../chains.ts";
import { criteriaRoot } from "../criteria.ts";
import {
  bidCurrency,
  conduitKey,
  isSame,
  itemType,
  type OfferItem,
  type OrderComponents,
} from "../exchange.ts";
import type { PlannedOrder } from "../plan/actions.ts";
import { assertSafe } from "../wallet-error.ts";

type Expected = Omit<PlannedOrder, "components"> & {
  readonly chainId: ChainId;
  readonly maker: Address;
};

/** An order that gives and takes exactly what the plan shows; called before it is signed. */
export function checkOrder(order: OrderComponents, expected: Expected): void {
  assertSafe(isSame(order.offerer, expected.maker), "somebody else makes the order");
  assertSafe(
    isSame(order.zone, zeroAddress) && order.zoneHash === zeroHash,
    "the order names a zone",
  );
  assertSafe(order.orderType === 0 || order.orderType === 1, "it is another kind of order");
  const key = expected.side === "ask" ? conduitKey : zeroHash;
  assertSafe(isSame(order.conduitKey, key), "another contract moves what is given");
  for (const { startAmount, endAmount } of [...order.offer, ...order.consideration])
    assertSafe(startAmount === endAmount, "an amount changes with time");
  const [given, ...more] = order.offer;
  assertSafe(given !== undefined && more.length === 0, "it gives other items too");
  if (expected.side === "ask") checkListing(order, given, expected);
  else checkBid(order, given, expected);
}

const total = ({ unitPriceWei, quantity }: Expected) => BigInt(unitPriceWei) * BigInt(quantity);

function checkListing(order: OrderComponents, given: OfferItem, expected: Expected): void {
  checkNft(given, expected);
  let sum = 0n;
  for (const leg of order.consideration) {
    const isNative = leg.itemType === itemType.native && isSame(leg.token, zeroAddress);
    assertSafe(isNative, "it asks for something else than the native currency");
    sum += leg.startAmount;
  }
  assertSafe(sum === total(expected), "it asks for another price");
  const [seller] = order.consideration;
  assertSafe(
    seller !== undefined && isSame(seller.recipient, expected.maker),
    "somebody else is paid first",
  );
  assertSafe(seller.startAmount === BigInt(expected.netWei), "the seller receives another amount");
}

function checkBid(order: OrderComponents, given: OfferItem, expected: Expected): void {
  assertSafe(given.itemType === itemType.erc20, "it offers something else than the bid currency");
  assertSafe(isSame(given.token, bidCurrency[expected.chainId]), "it offers another currency");
  assertSafe(given.startAmount === total(expected), "it offers another amount");
  const [nft, ...fees] = order.consideration;
  assertSafe(nft !== undefined, "it asks for nothing");
  assertSafe(isSame(nft.recipient, expected.maker), "somebody else receives the token");
  checkNft(nft, expected);
  let netWei = given.startAmount;
  for (const fee of fees) {
    const isPaid = fee.itemType === itemType.erc20 && isSame(fee.token, given.token);
    assertSafe(isPaid, "a fee is something else than the bid currency");
    netWei -= fee.startAmount;
  }
  assertSafe(netWei === BigInt(expected.netWei), "the seller receives another amount");
}

function checkNft(item: OfferItem, { contract, tokenId, criteria, quantity }: Expected): void {
  const isAny = item.itemType === itemType.anyErc721 || item.itemType === itemType.anyErc1155;
  const isOne = item.itemType === itemType.erc721 || item.itemType === itemType.erc1155;
  assertSafe(tokenId === null ? isAny : isOne, "it is for something else than the token");
  assertSafe(isSame(item.token, contract), "it is for a token of another contract");
  const expected = criteria === undefined ? BigInt(tokenId ?? 0) : criteriaRoot(criteria.tokenIds);
  assertSafe(item.identifierOrCriteria === expected, "it is for another token");
  assertSafe(item.startAmount === BigInt(quantity), "it is for another number of units");
}
