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
import { seaportFunctions } from "../../../../abis/seaport.ts";
import {
  type AdvancedOrder,
  advancedOrder,
  orderQuantity,
} from "../../../../projections/domain/seaport/fill.ts";
import type { SignedOrder } from "../../../../projections/domain/seaport/order-components.ts";

/** What a buyer who pays in a currency holds of it, and how much of that the exchange may take; null: nobody was named. */
export type Payment = {
  token: Address;
  balanceWei: bigint | null;
  allowanceWei: bigint | null;
  requiredWei: bigint;
};

type Fill = {
  order: AdvancedOrder;
  /** Zero: the exchange itself takes the currency. */
  fulfillerConduitKey: Hex;
  /** Zero: whoever sends the transaction. */
  recipient: Address;
};

/** A call of the exchange that buys `units` of a listing. */
export type Purchase = Fill & {
  units: bigint;
  /** Ends with the service's tag, which the exchange ignores. */
  data: Hex;
  /** Native currency to send. */
  valueWei: bigint;
  /** Of all units, in whichever currency. */
  priceWei: bigint;
  /** Null: the native one. */
  currency: Address | null;
  /** Null where native currency is sent. */
  payment: Payment | null;
  /** Until when the call can succeed, where that is earlier than the listing's end. */
  validUntil: Date | null;
};

/** What names the service behind a fill's calldata: the first four bytes of its name's keccak hash. */
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

type Choice = {
  units: bigint;
  recipient: Address;
  tag: Hex;
  currency: Address | null;
  /** What is known of the buyer's money; of native currency nothing is asked. */
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
