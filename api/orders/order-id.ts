import type { Hex } from "viem";

/** `askId` or `bidId` of an order of the market's own book. */
export function orderId(prefix: string, orderHash: Hex): string {
  return `${prefix}-${orderHash}`;
}

/** The order that an id names, or null: it is no id of this market's. The hash may stand in any case. */
export function orderHashOf(prefix: string, id: string): Hex | null {
  const hash = id.startsWith(`${prefix}-`) ? id.slice(prefix.length + 1).toLowerCase() : "";
  return /^0x[0-9a-f]{64}$/.test(hash) ? (hash as Hex) : null;
}
