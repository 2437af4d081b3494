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
  assertSafe(isSame(call.to, exchange), "the transaction goes to another contract");
  const isNative = isSame(plan.currency, zeroAddress);
  assertSafe(
    BigInt(call.value) === (isNative ? BigInt(plan.priceWei) : 0n),
    "another value is sent",
  );
  const { order, recipient, fulfillerKey } = decodePurchase(call.data as Hex);
  const isBuyer = isSame(recipient, zeroAddress) || isSame(recipient, buyer);
  assertSafe(isBuyer, "somebody else receives the token");
  // ERC-20 is approved for the exchange itself; native currency goes through no conduit.
  const isKey = fulfillerKey === zeroHash || (isNative && isSame(fulfillerKey, conduitKey));
  assertSafe(isKey, "another contract moves the payment");
  checkItem(order, plan);
  checkPrice(order, plan, isNative);
}

type Order = ReturnType<typeof decodePurchase>["order"];

function checkItem({ parameters, numerator, denominator }: Order, plan: BuyAction): void {
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
  { parameters, numerator, denominator }: Order,
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
  const end = size(data) - tagBytes;
  assertSafe(end > tagBytes, "it has no data");
  const call = slice(data, 0, end);
  const { functionName, args } = decodeFunctionData({ abi: exchangeAbi, data: call });
  assertSafe(functionName === "fulfillAdvancedOrder", "it calls another function");
  const [order, resolvers, fulfillerKey, recipient] = args;
  assertSafe(resolvers.length === 0, "it chooses tokens by criteria");
  // Anything hidden between the arguments would be lost in encoding them again.
  const again = encodeFunctionData({ abi: exchangeAbi, functionName, args });
  assertSafe(isSame(again, call), "its data hold something else");
  return { order, recipient, fulfillerKey };
}
