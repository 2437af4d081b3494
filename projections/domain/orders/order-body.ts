import type { Hex } from "viem";
import type { OrderComponents } from "../seaport/order-components.ts";

/** An order as it was submitted: well typed, otherwise unchecked. Addresses in lower case. */
export type OrderBody = {
  components: OrderComponents;
  signature: Hex;
  /** Null when it was not sent. */
  totalOriginalConsiderationItems: bigint | null;
};
