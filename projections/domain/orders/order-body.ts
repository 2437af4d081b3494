import type { Hex } from "viem";
import type { OrderComponents } from "../seaport/order-components.ts";

/** An order as it was sent: well typed, nothing else about it is known. Addresses in lower case. */
export type OrderBody = {
  components: OrderComponents;
  signature: Hex;
  /** Null when it was not sent. */
  totalOriginalConsiderationItems: bigint | null;
};
