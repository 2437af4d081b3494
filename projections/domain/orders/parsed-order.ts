import type { Address, Hex } from "viem";
import type { OrderComponents } from "../seaport/order-components.ts";
import type { Leg } from "../seaport/price-legs.ts";
import type { TradeTerms } from "./trade-terms.ts";

/** An order of a supported shape. Fees, times and signature are not validated yet. */
export type ParsedOrder = {
  side: TradeTerms["side"];
  orderHash: Hex;
  components: OrderComponents;
  signature: Hex;
  /** The offerer. */
  maker: Address;
  contract: Address;
  standard: TradeTerms["standard"];
  /** Null for a bid on every token of the collection. */
  tokenId: bigint | null;
  quantity: bigint;
  unitPriceWei: bigint;
  /** Per unit: payments to others than the seller, in the order signed. */
  feeLegs: readonly Leg[];
  /** Per unit: the price less `feeLegs`. Not positive when a bid's fee legs exceed its amount. */
  sellerNetWei: bigint;
};

/** What is validated against chain state: a signed order, or one that its maker may sign. */
export type OrderIntent = Pick<
  ParsedOrder,
  "side" | "maker" | "contract" | "standard" | "tokenId" | "quantity" | "unitPriceWei"
>;
