import { type Hex, keccak256, stringToBytes } from "viem";
import type { ParsedOrder } from "#projections/domain/orders/order-terms.ts";

/** Bytes of a key: enough that no other has it, and no address of ours is as long. */
const keyBytes = 16;

/** Names a network address, and what else tells its budgets apart, without saying it. */
export const networkKey = (network: string, contract: Hex | null = null): Hex =>
  `0x${keccak256(stringToBytes(`${network} ${contract ?? ""}`)).slice(2, 2 + 2 * keyBytes)}`;

/** The keys of the budgets that an order's network address has for itself. */
export function shareKeys({
  order: { contract },
  network,
}: {
  order: ParsedOrder;
  network: string | null;
}): Hex[] {
  return network === null ? [] : [networkKey(network), networkKey(network, contract)];
}
