import type { Address, Hex } from "viem";
import type { OrderComponents } from "../seaport/order-components.ts";
import type { Leg } from "../seaport/price-legs.ts";
import type { TradeTerms } from "./trade-terms.ts";

/** An order of a shape that is taken in. Who is paid, when and by whose signature is not judged yet. */
export type RecognizedOrder = {
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
  /** Per unit: what others than the seller are paid, in the order signed. */
  taken: readonly Leg[];
  /** Per unit: what `taken` leaves. Not positive when the legs of a bid eat up what it offers. */
  sellerNetWei: bigint;
};

/** What is judged against the chain: an order, or the intention of one. */
export type JudgedOrder = Pick<
  RecognizedOrder,
  "side" | "maker" | "contract" | "standard" | "tokenId" | "quantity" | "unitPriceWei"
>;
