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
import { seaportFunctions } from "../../abis/seaport.ts";
import {
  type AdvancedOrder,
  advancedOrder,
  orderQuantity,
} from "../../projections/domain/seaport/fill.ts";
import type { SignedOrder } from "../../projections/domain/seaport/order-components.ts";

/** A call of the exchange that buys `units` of a listing for exactly `valueWei` of native currency. */
export type Purchase = {
  units: bigint;
  order: AdvancedOrder;
  fulfillerConduitKey: Hex;
  recipient: Address;
  /** Ends with the service's tag, which the exchange ignores. */
  data: Hex;
  valueWei: bigint;
};

/** What names the service behind a fill's calldata: the first four bytes of its name's keccak hash. */
export function serviceTag(prefix: string): Hex {
  return slice(keccak256(stringToHex(prefix)), 0, 4);
}

export function buildPurchase(
  listing: SignedOrder,
  { units, recipient, tag }: { units: bigint; recipient: Address; tag: Hex },
): Purchase {
  const order = advancedOrder(listing, units);
  // Native currency passes through no conduit.
  const fulfillerConduitKey = zeroHash;
  const data = encodeFunctionData({
    abi: seaportFunctions,
    functionName: "fulfillAdvancedOrder",
    args: [order, [], fulfillerConduitKey, recipient],
  });
  const { components } = listing;
  const wholeWei = components.consideration.reduce((sum, leg) => sum + leg.startAmount, 0n);
  return {
    units,
    order,
    fulfillerConduitKey,
    recipient,
    data: concatHex([data, tag]),
    valueWei: (wholeWei * units) / orderQuantity(components),
  };
}
