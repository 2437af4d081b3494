import {
  type Address,
  decodeFunctionData,
  encodeFunctionData,
  type Hex,
  size,
  slice,
  zeroAddress,
  zeroHash,
} from "viem";
import { exchangeAbi } from "../abis.ts";
import { conduitKey, exchange, isSame, itemType } from "../exchange.ts";
import type { BuyAction } from "../plan/actions.ts";
import { assertSafe } from "../wallet-error.ts";

type Call = { readonly to: string; readonly data: string; readonly value: string };

/** The service's tag behind the arguments, which the exchange ignores. */
const tagBytes = 4;

/** Bytes that buy exactly what the plan shows, for exactly its price, for nobody but the buyer. */
export function checkPurchase(call: Call, plan: BuyAction, buyer: Address): void {
  checkPayment(call, [plan]);
  const { order, recipient, fulfillerKey } = decodePurchase(call.data as Hex);
  checkRecipient(recipient, buyer);
  const isNative = isSame(plan.currency, zeroAddress);
  // ERC-20 is approved for the exchange itself; native currency goes through no conduit.
  const isKey = fulfillerKey === zeroHash || (isNative && isSame(fulfillerKey, conduitKey));
  assertSafe(isKey, "another contract moves the payment");
  checkOrderOf(order, plan);
}

/** Bytes that buy those items of the plan and nothing else, each for exactly its price, for nobody but the buyer. */
export function checkSweep(call: Call, plans: readonly BuyAction[], buyer: Address): void {
  checkPayment(call, plans);
  const { orders, recipient, fulfillerKey } = decodeSweep(call.data as Hex);
  checkRecipient(recipient, buyer);
  assertSafe(fulfillerKey === zeroHash, "another contract moves the payment");
  assertSafe(orders.length === plans.length, "it is for other listings too");
  for (const [index, plan] of plans.entries()) {
    const order = orders[index];
    assertSafe(order !== undefined, "it lacks a listing");
    checkOrderOf(order, plan);
  }
}

function checkPayment(call: Call, plans: readonly BuyAction[]): void {
  assertSafe(isSame(call.to, exchange), "the transaction goes to another contract");
  const native = plans.filter(({ currency }) => isSame(currency, zeroAddress));
  const wei = native.reduce((sum, { priceWei }) => sum + BigInt(priceWei), 0n);
  assertSafe(BigInt(call.value) === wei, "another value is sent");
}

function checkRecipient(recipient: Address, buyer: Address): void {
  const isBuyer = isSame(recipient, zeroAddress) || isSame(recipient, buyer);
  assertSafe(isBuyer, "somebody else receives the token");
}

export type PurchasedOrder = ReturnType<typeof decodePurchase>["order"];

function checkOrderOf(order: PurchasedOrder, plan: BuyAction): void {
  checkItem(order, plan);
  checkPrice(order, plan, isSame(plan.currency, zeroAddress));
}

function checkItem({ parameters, numerator, denominator }: PurchasedOrder, plan: BuyAction): void {
  const [item, ...others] = parameters.offer;
  assertSafe(item !== undefined && others.length === 0, "it is for other items too");
  const isNft = item.itemType === itemType.erc721 || item.itemType === itemType.erc1155;
  assertSafe(isNft, "it is not for a token");
  assertSafe(isSame(item.token, plan.contract), "it is for a token of another contract");
  assertSafe(item.identifierOrCriteria === BigInt(plan.tokenId), "it is for another token");
  assertSafe(item.startAmount === item.endAmount, "the number of units changes with time");
  assertSafe(denominator > 0n && numerator > 0n, "it is for no part of the order");
  const isQuantity = item.startAmount * numerator === BigInt(plan.quantity) * denominator;
  assertSafe(isQuantity, "it is for another number of units");
}

function checkPrice(
  { parameters, numerator, denominator }: PurchasedOrder,
  plan: BuyAction,
  isNative: boolean,
): void {
  const money = isNative ? itemType.native : itemType.erc20;
  let totalWei = 0n;
  for (const leg of parameters.consideration) {
    assertSafe(leg.startAmount === leg.endAmount, "the price changes with time");
    const isMoney = leg.itemType === money && isSame(leg.token, plan.currency);
    assertSafe(isMoney, "it is paid in something else");
    totalWei += leg.startAmount;
  }
  assertSafe(totalWei * numerator === BigInt(plan.priceWei) * denominator, "it has another price");
}

/** The arguments of a purchase; throws unless the data are one and nothing else. */
export function decodePurchase(data: Hex) {
  const { functionName, args } = decodeCall(data);
  assertSafe(functionName === "fulfillAdvancedOrder", "it calls another function");
  const [order, resolvers, fulfillerKey, recipient] = args;
  assertSafe(resolvers.length === 0, "it chooses tokens by criteria");
  return { order, recipient, fulfillerKey };
}

/** The arguments of a purchase of several listings. */
export function decodeSweep(data: Hex) {
  const { functionName, args } = decodeCall(data);
  assertSafe(functionName === "fulfillAvailableAdvancedOrders", "it calls another function");
  const [orders, resolvers, , , fulfillerKey, recipient] = args;
  assertSafe(resolvers.length === 0, "it chooses tokens by criteria");
  return { orders, recipient, fulfillerKey };
}

function decodeCall(data: Hex) {
  const end = size(data) - tagBytes;
  assertSafe(end > tagBytes, "it has no data");
  const call = slice(data, 0, end);
  const decoded = decodeFunctionData({ abi: exchangeAbi, data: call });
  // Anything hidden between the arguments would be lost in encoding them again.
  const again = encodeFunctionData({ abi: exchangeAbi, ...decoded } as never);
  assertSafe(isSame(again, call), "its data hold something else");
  return decoded;
}
