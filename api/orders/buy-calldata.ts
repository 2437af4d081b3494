import {
  type Address,
  concatHex,
  encodeFunctionData,
  type Hex,
  keccak256,
  slice,
  stringToHex,
  zeroHash,
} from "viem";
import { seaportFunctions } from "#abis/seaport.ts";
import {
  type AdvancedOrder,
  advancedOrder,
  availableFulfillments,
  orderQuantity,
} from "#projections/domain/seaport/fill.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";

/** Balance and allowance of a buyer who pays in an ERC-20 currency; null: the buyer is not known. */
export type Payment = {
  token: Address;
  balanceWei: bigint | null;
  allowanceWei: bigint | null;
  requiredWei: bigint;
};

type Fill = {
  order: AdvancedOrder;
  /** Zero: the exchange itself transfers the currency. */
  fulfillerConduitKey: Hex;
  /** Zero: the sender of the transaction. */
  recipient: Address;
};

/** A call of the exchange that buys `units` of a listing. */
export type Purchase = Fill & {
  units: bigint;
  /** Ends with the service's tag, which the exchange ignores. */
  data: Hex;
  /** Native currency to send. */
  valueWei: bigint;
  /** Of all units, in `currency`. */
  priceWei: bigint;
  /** Null: native currency. */
  currency: Address | null;
  /** Null for native currency. */
  payment: Payment | null;
  /** Until when the call can succeed, where that is earlier than the listing's end. */
  validUntil: Date | null;
};

/** Appended to a fill's calldata to identify the service: first four bytes of the keccak hash of its prefix. */
export function serviceTag(prefix: string): Hex {
  return slice(keccak256(stringToHex(prefix)), 0, 4);
}

export function encodePurchase({ order, fulfillerConduitKey, recipient }: Fill, tag: Hex): Hex {
  const data = encodeFunctionData({
    abi: seaportFunctions,
    functionName: "fulfillAdvancedOrder",
    args: [order, [], fulfillerConduitKey, recipient],
  });
  return concatHex([data, tag]);
}

/** One call that fills each of the orders that it still can, ending with the service's tag. */
export function encodeSweep(orders: readonly AdvancedOrder[], recipient: Address, tag: Hex): Hex {
  const { offer, consideration } = availableFulfillments(orders);
  const data = encodeFunctionData({
    abi: seaportFunctions,
    functionName: "fulfillAvailableAdvancedOrders",
    args: [orders, [], offer, consideration, zeroHash, recipient, BigInt(orders.length)],
  });
  return concatHex([data, tag]);
}

type Choice = {
  units: bigint;
  recipient: Address;
  tag: Hex;
  currency: Address | null;
  /** The buyer's funds; not queried for native currency. */
  funds: { balanceWei: bigint | null; allowanceWei: bigint | null };
};

export function buildPurchase(listing: SignedOrder, choice: Choice): Purchase {
  const { units, recipient, tag, currency, funds } = choice;
  const { components } = listing;
  const wholeWei = components.consideration.reduce((sum, leg) => sum + leg.startAmount, 0n);
  const priceWei = (wholeWei * units) / orderQuantity(components);
  const fill = {
    order: advancedOrder(listing, units),
    fulfillerConduitKey: zeroHash,
    recipient,
  };
  return {
    ...fill,
    units,
    data: encodePurchase(fill, tag),
    valueWei: currency === null ? priceWei : 0n,
    priceWei,
    currency,
    payment: currency === null ? null : { token: currency, ...funds, requiredWei: priceWei },
    validUntil: null,
  };
}
